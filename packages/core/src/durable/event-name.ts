import { AppError } from '@perdure/ports'

const EVENT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** @throws AppError `validation-failed` for a name that no event can have */
export function checkEventName(name: string): void {
  if (EVENT_NAME.test(name)) return
  throw new AppError('validation-failed', {
    message: `${JSON.stringify(name)} is no name of an event`,
    hint: 'use at most 128 letters, digits, ".", "_" or "-"',
  })
}
