import * as v from 'valibot'

export const Agent = v.object({
  id: v.string(),
  description: v.string(),
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
