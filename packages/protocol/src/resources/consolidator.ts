import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'

export const ConsolidatorPhase = v.picklist(['extract', 'merge', 'decay'])

export const RemainingBudget = v.object({ limit: v.nullable(v.number()), remaining: v.nullable(v.number()) })
export const ConsolidatorBudget = v.object({ tokens: RemainingBudget, usd: RemainingBudget })
export const QueueDepth = v.object({ extract: Count, merge: Count, decay: Count })

export const Consolidator = v.object({
  running: v.boolean(),
  queueDepth: QueueDepth,
  deadLetters: Count,
  /** The rest of today's budget; null when there is no limit. */
  budget: ConsolidatorBudget,
})

export const ConsolidateRequest = strictObject({
  phase: v.optional(ConsolidatorPhase),
  sessionId: v.optional(OperatorId),
})

export const QueuedJobs = v.object({ jobIds: v.array(v.string()) })

export const JobError = v.object({ kind: v.string(), message: v.string() })

export const DeadLetter = v.object({
  id: v.string(),
  phase: ConsolidatorPhase,
  sessionId: v.optional(v.string()),
  attempts: Count,
  error: JobError,
  createdAt: Timestamp,
  failedAt: Timestamp,
})

/** A consolidator phase ended; `changed` counts the facts that it wrote, deleted or reweighted. */
export const ConsolidationEvent = v.object({
  phase: ConsolidatorPhase,
  jobId: v.string(),
  changed: Count,
  sessionId: v.optional(v.string()),
})
