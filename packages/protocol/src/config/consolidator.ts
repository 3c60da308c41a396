import { field, optionalField, section } from './section.ts'
import { boolean, count, days, milliseconds } from './values.ts'

export const ConsolidatorSection = section({
  enabled: field(boolean, true, { note: 'Whether the consolidator runs in this process.' }),
  idleAfterMs: field(milliseconds(100), 900_000, {
    note: 'How long a session must be idle, without a run or message, before it is consolidated, in milliseconds.',
  }),
  leaseMs: field(milliseconds(1_000), 300_000, {
    note: 'How long a phase may work on a job, in milliseconds; after a crash, the job is retried when this lease expires.',
  }),
  halfLifeDays: field(days(1, 36_500), 30, { note: 'Half-life of the importance of a fact, in days.' }),
  tokensPerDay: optionalField(count(0), {
    note: 'Tokens that your own phases may spend per day (UTC); unlimited when not set.',
  }),
  usdCentsPerDay: optionalField(count(0), {
    note: 'US cents that your own phases may spend per day (UTC); unlimited when not set.',
  }),
})
