import type { ErrorCause, RunError } from '@perdure/ports'
import { budgetOwnerOf } from './budget-error.ts'
import { failedCallOf } from './failed-call.ts'
import { stackText } from './stack-text.ts'
import { causesOf, nameOfThrown, readThrown, textOfThrown } from './thrown-value.ts'

const MAX_MESSAGE_LENGTH = 4_096
const MAX_CAUSE_MESSAGE_LENGTH = 1_024

/** The error to record for a thrown value. Keeps the `code` of the value, else its `kind`, else uses `run-failed`. */
export function toRunError(thrown: unknown): RunError {
  const { code, kind } = readThrown(thrown, ['code', 'kind'])
  const id = [code, kind].find(isIdentifier) ?? 'run-failed'
  return { code: id, message: truncated(textOfThrown(thrown), MAX_MESSAGE_LENGTH) }
}

/** The error of a run that ends because its code threw this value. */
export function toRunFailure(thrown: unknown): RunError {
  const causes = causesOf(thrown)
  const step = [thrown, ...causes].map(failedCallOf).find((call) => call !== undefined)
  const stack = stackText([thrown, ...causes])
  const budgetOf = budgetOwnerOf(thrown)
  return {
    ...toRunError(thrown),
    ...(budgetOf === undefined ? {} : { budgetOf }),
    ...(step === undefined ? {} : { step }),
    ...(causes.length === 0 ? {} : { cause: causes.map(toCause) }),
    ...(stack === undefined ? {} : { stack }),
  }
}

/** The error as clients see it, without its stack. */
export function shownError(error: RunError): RunError {
  const { stack: _, ...shown } = error
  return shown
}

const toCause = (cause: unknown): ErrorCause => ({
  name: nameOfThrown(cause),
  message: truncated(textOfThrown(cause), MAX_CAUSE_MESSAGE_LENGTH),
})

const truncated = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text)

/** Whether a member of a thrown value can be recorded as the identifier of an error. */
export const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 128
