import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'

export const LimitedUse = documented(
  v.object({
    used: member(v.number(), 'What the subject uses.'),
    limit: member(v.nullable(v.number()), 'The limit. null without a limit.'),
  }),
  'What a subject uses of one kind, and its limit.',
  { used: 12, limit: 100 },
)

export const SubjectUsage = documented(
  v.object({
    subject: member(v.string(), 'The subject, as in the path.'),
    day: member(v.string(), 'The UTC day that the usage of today belongs to.'),
    resetsAt: member(Timestamp, 'When the next UTC day begins.'),
    activeRuns: member(LimitedUse, 'Queued and running runs, without child runs.'),
    runsToday: member(LimitedUse, 'Runs that were created today, without child runs.'),
    costUsdToday: member(LimitedUse, 'What the runs of today have cost so far, in US dollars.'),
    fileBytes: member(LimitedUse, 'Bytes of the files that the subject owns.'),
  }),
  'What a subject uses now and today, and its limits.',
  {
    subject: 'jwt:app:alice',
    day: '2026-03-02',
    resetsAt: '2026-03-03T00:00:00.000Z',
    activeRuns: { used: 1, limit: 3 },
    runsToday: { used: 12, limit: 100 },
    costUsdToday: { used: 0.42, limit: 5 },
    fileBytes: { used: 1_204_224, limit: 1_073_741_824 },
  },
)

/** What a subject can own, in the order in which it is deleted. */
export const ERASED_NOUNS = [
  'triggers',
  'webhooks',
  'tokens',
  'sessions',
  'runs',
  'facts',
  'events',
  'blocks',
  'files',
] as const

export type ErasedNoun = (typeof ERASED_NOUNS)[number]

export const ErasedData = documented(
  v.object({
    subject: member(v.string(), 'The subject, as in the path.'),
    deleted: member(
      v.record(v.picklist(ERASED_NOUNS), v.number()),
      'How many rows of each kind this request has deleted. The runs, messages and events of a session count as the session; `events` are those about facts.',
    ),
    isComplete: member(
      v.boolean(),
      'Whether nothing is left. If not, send the request again: it continues where this one has ended.',
    ),
  }),
  'The progress of the deletion of the data of a subject.',
  {
    subject: 'jwt:app:alice',
    deleted: { triggers: 0, webhooks: 0, tokens: 1, sessions: 3, runs: 2, facts: 7, events: 7, blocks: 1, files: 4 },
    isComplete: true,
  },
)
