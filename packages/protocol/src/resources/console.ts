import * as v from 'valibot'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { TokenEnvName } from './tokens.ts'

/** A single-use code that signs a browser in to the console. */
export const ConsoleCode = v.object({ code: v.string(), expiresAt: Timestamp, ttlMs: Count })

const Credential = v.pipe(v.string(), v.minLength(1), v.maxLength(256))

/** A code or an access token. */
export const SignInRequest = v.pipe(
  strictObject({ code: v.optional(Credential), token: v.optional(Credential) }),
  v.check(({ code, token }) => (code === undefined) !== (token === undefined), 'must have either code or token'),
)

/** An agent or workflow that the caller may read. */
export const ConsoleTarget = v.object({ id: v.string(), description: v.string() })

/** What the console may do with the session of this browser. */
export const ConsoleSession = v.object({
  subject: v.string(),
  scopes: v.array(v.string()),
  env: v.nullable(TokenEnvName),
  expiresAt: v.optional(Timestamp),
  readOnly: v.boolean(),
  version: v.string(),
  agents: v.array(ConsoleTarget),
  workflows: v.array(ConsoleTarget),
})
