import { perdureError } from '@perdure/ports'
import { checkName } from './call-arguments.ts'
import type { CallScope } from './call-scope.ts'
import { AWAIT_HINT } from './journal.ts'

/**
 * @throws PerdureError `validation-failed` for an invalid name, and for a call inside the code of another durable call: a
 *   re-execution does not call that code again, so the inner call would be missing; `run-not-active` for a call of code
 *   that the run has left behind
 */
export function checkCall(
  { nesting, run, journal }: Pick<CallScope, 'nesting' | 'run' | 'journal'>,
  name: unknown,
): void {
  checkName(name)
  if (journal.isClosed()) {
    throw perdureError('run-not-active', {
      message: `the run has ended; the durable call ${name} was not made`,
      hint: AWAIT_HINT,
    })
  }
  const outer = nesting.current()
  if (outer?.runId !== run.id) return
  throw perdureError('validation-failed', {
    message: `the durable call ${name} is made inside the durable call ${outer.name}`,
    hint: 'make durable calls one after another or in parallel; do only plain work inside a step or tool',
  })
}
