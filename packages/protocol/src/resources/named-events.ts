import * as v from 'valibot'
import { strictObject } from '../plain-object.ts'

/** Name of an event that callers emit: like an operator-chosen id, but dots are allowed. */
export const EmittedEventName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be at most 128 letters, digits, ".", "_" or "-"'),
)

export const EmitEventRequest = strictObject({ payload: v.optional(v.unknown()) })

/**
 * The runs that the event woke and the fires that it created, as far as the caller may see them: its own runs and those
 * that it may read, and the fires of triggers that it may read. If more than 1,000 runs wait, the list omits the rest.
 */
export const EmittedEvent = v.object({
  name: v.string(),
  wokenRunIds: v.array(v.string()),
  fireIds: v.array(v.string()),
})
