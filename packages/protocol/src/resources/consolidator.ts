import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'

export const ConsolidatorPhase = v.picklist(['extract', 'merge', 'decay'])

const Budget = v.object({ limit: v.nullable(v.number()), remaining: v.nullable(v.number()) })

export const Consolidator = v.object({
  running: v.boolean(),
  queueDepth: v.object({ extract: v.number(), merge: v.number(), decay: v.number() }),
  deadLetters: v.number(),
  /** The rest of today's budget; null when there is no limit. */
  budget: v.object({ tokens: Budget, usd: Budget }),
})

export const ConsolidateRequest = strictObject({
  phase: v.optional(ConsolidatorPhase),
  sessionId: v.optional(OperatorId),
})

export const QueuedJobs = v.object({ jobIds: v.array(v.string()) })

export const DeadLetter = v.object({
  id: v.string(),
  phase: ConsolidatorPhase,
  sessionId: v.optional(v.string()),
  attempts: v.number(),
  error: v.object({ kind: v.string(), message: v.string() }),
  createdAt: Timestamp,
  failedAt: Timestamp,
})

/** A consolidator phase ended; `changed` counts the facts that it wrote, deleted or reweighted. */
export const ConsolidationEvent = v.object({
  phase: ConsolidatorPhase,
  jobId: v.string(),
  changed: v.number(),
  sessionId: v.optional(v.string()),
})
