import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { strictObject } from '../plain-object.ts'
import { RUN_ID } from './example-ids.ts'

/** Name of an event that callers emit: like an operator-chosen id, but dots are allowed. */
export const EmittedEventName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be at most 128 letters, digits, ".", "_" or "-"'),
)

export const EmitEventRequest = documented(
  strictObject({ payload: member(v.optional(v.unknown()), 'Value that waiting runs receive. Default: `null`.') }),
  'Emits a named event.',
  { payload: { order: 7 } },
)

export const EmittedEvent = documented(
  v.object({
    name: member(v.string(), 'Name of the event.'),
    wokenRunIds: member(v.array(v.string()), 'Ids of the runs that the event woke, at most 1,000.'),
    fireIds: member(v.array(v.string()), 'Ids of the fires that the event caused.'),
  }),
  'The effects of an event, as far as the caller may see them.',
  { name: 'order.paid', wokenRunIds: [RUN_ID], fireIds: [] },
)
