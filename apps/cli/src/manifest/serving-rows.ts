import * as v from 'valibot'
import type { FlagSpec } from './command-spec.ts'

/** Flags of `dev` and `server`. */
export const SERVING_FLAGS: readonly FlagSpec[] = [
  { name: 'host', type: 'string', note: 'listen on this address' },
  { name: 'port', type: 'integer', range: [0, 65_535], note: 'listen on this port; 0 picks a free one' },
  { name: 'demo', type: 'boolean', note: 'register the demo agents echo and digest' },
]

/** Both commands print this once they listen. */
export const Listening = v.object({
  event: v.literal('listening'),
  host: v.string(),
  port: v.number(),
  basePath: v.string(),
  /** Only if stdout is a terminal. */
  token: v.optional(v.string()),
  /** File with the token, in its member `token`. Only if stdout is not a terminal. */
  tokenFile: v.optional(v.string()),
})
