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

export const RemainingToken = v.object({ id: v.string(), name: v.string(), expiresAt: v.optional(Timestamp) })

/** The valid tokens that an ended session has created. */
export const SignedOut = v.object({ tokens: v.array(RemainingToken) })

/** A server that shares the storage with this one. */
export const ConsoleNode = v.object({ id: v.string(), name: v.string(), startedAt: Timestamp, isThis: v.boolean() })

/** A field of the configuration. A secret reference is shown with its scheme only. */
export const ConfiguredField = v.object({ path: v.string(), value: v.optional(v.unknown()), origin: v.string() })

export const ConsoleStorage = v.object({
  kind: v.picklist(['sqlite', 'postgres', 'custom']),
  writable: v.boolean(),
  dbBytes: Count,
  walBytes: Count,
  freeBytes: v.optional(Count),
})

/** The server behind the console. */
export const ConsoleSystem = v.object({
  version: v.string(),
  startedAt: Timestamp,
  nodes: v.array(ConsoleNode),
  storage: ConsoleStorage,
  configuration: v.array(ConfiguredField),
})

/** One metric over time, or one value of its label; `null` where nothing was measured. */
export const MetricSeries = v.object({
  metric: v.string(),
  label: v.string(),
  measure: v.picklist(['per-minute', 'value', 'p95']),
  values: v.array(v.nullable(v.number())),
})

/** The metrics of the last hour. */
export const MetricHistory = v.object({
  intervalMs: Count,
  times: v.array(Timestamp),
  series: v.array(MetricSeries),
})
