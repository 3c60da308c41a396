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
