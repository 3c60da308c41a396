import { AppError } from '@perdure/ports'
import { checkName } from './call-arguments.ts'
import type { CallScope } from './call-scope.ts'

/**
 * @throws AppError `validation-failed` for an invalid name, and for a call inside the code of another durable call: a
 *   re-execution does not call that code again, so the inner call would be missing
 */
export function checkCall({ nesting, run }: Pick<CallScope, 'nesting' | 'run'>, name: unknown): void {
  checkName(name)
  const outer = nesting.current()
  if (outer?.runId !== run.id) return
  throw new AppError('validation-failed', {
    message: `the durable call ${name} is made inside the durable call ${outer.name}`,
    hint: 'make durable calls one after another or in parallel; do only plain work inside a step or tool',
  })
}
