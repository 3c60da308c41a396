import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'

export const CONSOLIDATOR_PHASES = ['extract', 'merge', 'decay'] as const
export const ConsolidatorPhase = documented(
  v.picklist(CONSOLIDATOR_PHASES),
  'Phase of the consolidator: `extract` finds facts in a session, `merge` joins duplicates, `decay` lowers the importance of old facts.',
  'extract',
)

export type ConsolidatorPhase = v.InferOutput<typeof ConsolidatorPhase>

const tokens = { limit: 100_000, remaining: 81_400 }

export const RemainingBudget = documented(
  v.object({
    limit: member(v.nullable(v.number()), 'Limit per day (UTC); null when there is none.'),
    remaining: member(v.nullable(v.number()), 'Amount that can still be used today; null when there is no limit.'),
  }),
  'A daily limit and what is left of it.',
  tokens,
)
const budget = { tokens, usd: { limit: null, remaining: null } }

export const ConsolidatorBudget = documented(
  v.object({
    tokens: member(RemainingBudget, 'Budget in tokens.'),
    usd: member(RemainingBudget, 'Budget in US dollars.'),
  }),
  'Daily budget of the consolidator.',
  budget,
)
const queueDepth = { extract: 2, merge: 0, decay: 1 }

export const QueueDepth = documented(
  v.object({
    extract: member(Count, 'Number of jobs that extract facts.'),
    merge: member(Count, 'Number of jobs that merge facts.'),
    decay: member(Count, 'Number of jobs that lower the importance of facts.'),
  }),
  'Number of queued consolidator jobs by phase.',
  queueDepth,
)

export const Consolidator = documented(
  v.object({
    running: member(v.boolean(), 'Whether the consolidator is running.'),
    queueDepth: member(QueueDepth, 'Number of queued jobs by phase.'),
    deadLetters: member(Count, 'Number of jobs that failed for good.'),
    budget: member(ConsolidatorBudget, 'Budget for today.'),
  }),
  'State of the memory consolidator.',
  { running: true, queueDepth, deadLetters: 0, budget },
)

export const ConsolidateRequest = documented(
  strictObject({
    phase: member(v.optional(ConsolidatorPhase), 'Phase to run. Default: all phases.'),
    sessionId: member(v.optional(OperatorId), 'Session to extract facts from. Default: all sessions.'),
  }),
  'Queues consolidator jobs.',
  { phase: 'merge' },
)

const JOB_ID = 'job_01k5x3v8qk7m2n9b4c6d8f0g1h'

export const QueuedJobs = documented(
  v.object({ jobIds: member(v.array(v.string()), 'Ids of the jobs, `job_…`.') }),
  'The consolidator jobs that a request queued.',
  { jobIds: [JOB_ID] },
)

export const JobError = documented(
  v.object({
    kind: member(v.string(), 'Kind of the failure.'),
    message: member(v.string(), 'Explanation for people.'),
  }),
  'Why a consolidator job failed.',
  { kind: 'transient', message: 'the model did not answer' },
)

export const DeadLetter = documented(
  v.object({
    id: member(v.string(), 'Id of the job, `job_…`.'),
    phase: member(ConsolidatorPhase, 'Phase of the job.'),
    sessionId: member(
      v.optional(v.string()),
      'Id of the session that the job processes. Absent when it processes none.',
    ),
    attempts: member(Count, 'Number of attempts.'),
    error: member(JobError, 'Why the last attempt failed.'),
    createdAt: member(Timestamp, 'When the job was queued.'),
    failedAt: member(Timestamp, 'When the last attempt failed.'),
  }),
  'A consolidator job that failed for good.',
  {
    id: JOB_ID,
    phase: 'extract',
    sessionId: 'ses_01k5x3v8qk7m2n9b4c6d8f0g1h',
    attempts: 5,
    error: { kind: 'transient', message: 'the model did not answer' },
    createdAt: '2026-03-02T09:15:00.000Z',
    failedAt: '2026-03-02T09:22:40.000Z',
  },
)

/** A consolidator phase ended; `changed` counts the facts that it wrote, deleted or reweighted. */
export const ConsolidationEvent = v.object({
  phase: ConsolidatorPhase,
  jobId: v.string(),
  changed: Count,
  sessionId: v.optional(v.string()),
})
