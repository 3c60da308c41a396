import { perdureError } from '@perdure/ports'

const EVENT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** @throws PerdureError `validation-failed` unless it is a valid event name */
export function checkEventName(name: string): void {
  if (EVENT_NAME.test(name)) return
  throw perdureError('validation-failed', {
    message: `${JSON.stringify(name)} is not a valid event name`,
    hint: 'use at most 128 letters, digits, ".", "_" or "-"',
  })
}
