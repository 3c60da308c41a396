import { field, optionalField, section } from './section.ts'
import { days, secondsFrom } from './values.ts'

export const RetentionSection = section({
  eventsDays: field(days(1), 30, {
    note: 'Days after which events are removed, except those of active runs; a client resuming from an older cursor gets a gap notice.',
  }),
  tokensDays: field(days(1), 30, {
    note: 'Days after which expired and revoked tokens are removed, sessions of the console among them.',
  }),
  runsDays: optionalField(days(1), {
    note: 'Days after which ended runs are removed, with their calls and approvals; never when not set.',
  }),
  undeclaredSeconds: field(secondsFrom(0), 3_600, {
    note: 'How long a trigger or webhook keeps working that no running server declares any more; afterwards the trigger no longer fires, and the webhook is removed with its deliveries.',
  }),
  sessionsDays: optionalField(days(1), {
    note: 'Days of inactivity after which sessions are removed, with all their data; never when not set.',
  }),
})
