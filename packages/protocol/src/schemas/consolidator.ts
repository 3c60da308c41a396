import {
  ConsolidateRequest,
  Consolidator,
  ConsolidatorBudget,
  ConsolidatorPhase,
  DeadLetter,
  JobError,
  QueueDepth,
  QueuedJobs,
  RemainingBudget,
} from '../resources/consolidator.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'

const JOB_ID = 'job_01k5x3v8qk7m2n9b4c6d8f0g1h'
const queueDepth = { extract: 2, merge: 0, decay: 1 }
const tokens = { limit: 100_000, remaining: 81_400 }
const budget = { tokens, usd: { limit: null, remaining: null } }

export const consolidatorSchemas = {
  ConsolidatorPhase: namedValue(ConsolidatorPhase, {
    description:
      'Phase of the consolidator: `extract` finds facts in a session, `merge` joins duplicates, `decay` lowers the importance of old facts.',
    example: 'extract',
  }),
  QueueDepth: namedObject(QueueDepth, {
    description: 'Number of queued consolidator jobs by phase.',
    members: {
      extract: 'Number of jobs that extract facts.',
      merge: 'Number of jobs that merge facts.',
      decay: 'Number of jobs that lower the importance of facts.',
    },
    example: queueDepth,
  }),
  RemainingBudget: namedObject(RemainingBudget, {
    description: 'A daily limit and what is left of it.',
    members: {
      limit: 'Limit per day (UTC); null when there is none.',
      remaining: 'Amount that can still be used today; null when there is no limit.',
    },
    example: tokens,
  }),
  ConsolidatorBudget: namedObject(ConsolidatorBudget, {
    description: 'Daily budget of the consolidator.',
    members: { tokens: 'Budget in tokens.', usd: 'Budget in US dollars.' },
    example: budget,
  }),
  Consolidator: namedObject(Consolidator, {
    description: 'State of the memory consolidator.',
    members: {
      running: 'Whether the consolidator is running.',
      queueDepth: 'Number of queued jobs by phase.',
      deadLetters: 'Number of jobs that failed for good.',
      budget: 'Budget for today.',
    },
    example: { running: true, queueDepth, deadLetters: 0, budget },
  }),
  ConsolidateRequest: namedObject(ConsolidateRequest, {
    description: 'Queues consolidator jobs.',
    members: {
      phase: 'Phase to run. Default: all phases.',
      sessionId: 'Session to extract facts from. Default: all sessions.',
    },
    example: { phase: 'merge' },
  }),
  QueuedJobs: namedObject(QueuedJobs, {
    description: 'The consolidator jobs that a request queued.',
    members: { jobIds: 'Ids of the jobs, `job_…`.' },
    example: { jobIds: [JOB_ID] },
  }),
  JobError: namedObject(JobError, {
    description: 'Why a consolidator job failed.',
    members: { kind: 'Kind of the failure.', message: 'Explanation for people.' },
    example: { kind: 'transient', message: 'the model did not answer' },
  }),
  DeadLetter: namedObject(DeadLetter, {
    description: 'A consolidator job that failed for good.',
    members: {
      id: 'Id of the job, `job_…`.',
      phase: 'Phase of the job.',
      sessionId: 'Id of the session that the job processes. Absent when it processes none.',
      attempts: 'Number of attempts.',
      error: 'Why the last attempt failed.',
      createdAt: 'When the job was queued.',
      failedAt: 'When the last attempt failed.',
    },
    example: {
      id: JOB_ID,
      phase: 'extract',
      sessionId: 'ses_01k5x3v8qk7m2n9b4c6d8f0g1h',
      attempts: 5,
      error: { kind: 'transient', message: 'the model did not answer' },
      createdAt: '2026-03-02T09:15:00.000Z',
      failedAt: '2026-03-02T09:22:40.000Z',
    },
  }),
} as const satisfies NamedSchemas
