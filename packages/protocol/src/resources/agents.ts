import * as v from 'valibot'
import { Count } from './count.ts'

export const ConcurrencyPolicy = v.picklist(['parallel', 'single', 'session'])

const JsonSchema = v.record(v.string(), v.unknown())

export const Agent = v.object({
  id: v.string(),
  description: v.string(),
  /** All versions, the default first; `null` is the registration without a version. Missing if no version has a name. */
  versions: v.optional(v.array(v.nullable(v.string()))),
  concurrency: ConcurrencyPolicy,
  onBusy: v.picklist(['reject', 'queue', 'interrupt']),
  recovery: v.picklist(['fail', 'resume']),
  maxAttempts: Count,
  timeoutMs: v.optional(Count),
  tags: v.array(v.string()),
  /** JSON Schema of the input. Missing in lists, and when the schema has none. */
  inputSchema: v.optional(JsonSchema),
  outputSchema: v.optional(JsonSchema),
})

export const AgentState = v.object({
  id: v.string(),
  running: Count,
  queued: Count,
  concurrency: ConcurrencyPolicy,
})

/** Ids of the runs that a request aborted. */
export const AbortedRuns = v.object({ aborted: v.array(v.string()) })
