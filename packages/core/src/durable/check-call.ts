import { AppError } from '@perdure/ports'
import { checkName } from './call-arguments.ts'
import type { CallScope } from './call-scope.ts'

/**
 * @throws AppError `validation-failed` for what cannot be the name of a durable call, and inside the code of another one:
 *   that code is not called again when the run is executed again, and so the inner call would be missing
 */
export function checkCall({ nesting, run }: Pick<CallScope, 'nesting' | 'run'>, name: unknown): void {
  checkName(name)
  const outer = nesting.current()
  if (outer?.runId !== run.id) return
  throw new AppError('validation-failed', {
    message: `the durable call ${name} is made inside the durable call ${outer.name}`,
    hint: 'make one call after the other, or side by side; inside a step or a tool only plain work is done',
  })
}
