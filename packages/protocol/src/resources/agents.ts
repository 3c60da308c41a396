import * as v from 'valibot'
import { Count } from './count.ts'

/** `function` stands for a function of the configuration. */
export const FlowKey = v.picklist(['session', 'user', 'owner', 'function'])

export const ConcurrencyLimit = v.object({ limit: Count, key: v.optional(FlowKey) })

export const ConcurrencyPolicy = v.union([v.picklist(['parallel', 'single', 'session']), ConcurrencyLimit])

export const RateLimit = v.object({ limit: Count, periodMs: Count, key: v.optional(FlowKey) })

export const Debounce = v.object({ periodMs: Count, key: FlowKey, maxWaitMs: v.optional(Count) })

const JsonSchema = v.record(v.string(), v.unknown())

export const Agent = v.object({
  id: v.string(),
  description: v.string(),
  /** All versions, the default first; `null` is the registration without a version. Missing if no version has a name. */
  versions: v.optional(v.array(v.nullable(v.string()))),
  concurrency: ConcurrencyPolicy,
  onBusy: v.picklist(['reject', 'queue', 'interrupt']),
  rateLimit: v.optional(RateLimit),
  debounce: v.optional(Debounce),
  onCrash: v.picklist(['retry', 'fail']),
  recoveries: Count,
  retries: Count,
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
