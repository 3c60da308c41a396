import * as v from 'valibot'
import { Timestamp } from '../ids.ts'

export const TriggerEvent = v.object({
  triggerId: v.string(),
  fireId: v.optional(v.string()),
  scheduledAt: v.optional(Timestamp),
  runId: v.optional(v.string()),
  reason: v.optional(v.string()),
})
