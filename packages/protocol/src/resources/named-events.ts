import * as v from 'valibot'
import { strictObject } from '../plain-object.ts'

/** Events that callers emit by name: the grammar of operator-chosen ids, plus the dot. */
export const EmittedEventName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be at most 128 letters, digits, ".", "_" or "-"'),
)

export const EmitEventRequest = strictObject({ payload: v.optional(v.unknown()) })

/** What the event set in motion. */
export const EmittedEvent = v.object({
  name: v.string(),
  wokenRunIds: v.array(v.string()),
  fireIds: v.array(v.string()),
})
