import * as v from 'valibot'

export const Agent = v.object({
  id: v.string(),
  description: v.string(),
  /** All versions, the default first; `null` is the registration without a version. Missing if no version has a name. */
  versions: v.optional(v.array(v.nullable(v.string()))),
  concurrency: v.picklist(['parallel', 'single', 'session']),
  onBusy: v.picklist(['reject', 'queue', 'interrupt']),
  recovery: v.picklist(['fail', 'resume']),
  maxAttempts: v.number(),
  timeoutMs: v.optional(v.number()),
  tags: v.array(v.string()),
})

export const AgentState = v.object({
  id: v.string(),
  running: v.number(),
  queued: v.number(),
  concurrency: v.picklist(['parallel', 'single', 'session']),
})
