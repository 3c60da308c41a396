import { type JsonText, perdureError, toJsonText } from '@perdure/ports'
import { isLongerThan } from '../json/json-members.ts'

/** The text of the result of a run. @throws PerdureError `validation-failed` if it is too long */
export function checkedResult(result: unknown, maxResultBytes: number): JsonText {
  const text = toJsonText(result)
  if (!isLongerThan(text, maxResultBytes)) return text
  throw perdureError('validation-failed', {
    message: `the result is longer than ${maxResultBytes} bytes`,
    hint: 'return a reference to it, or raise runs.maxResultBytes',
  })
}
