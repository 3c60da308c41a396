import { EVERY_ROW, type RunRecord, type RunStore } from '@perdure/ports'
import { budgetError } from '../runs/budget-error.ts'
import { toRunFailure } from '../runs/run-error.ts'
import { type EndRunDeps, endRun } from './end-run.ts'
import type { Runner } from './runner.ts'

export interface ExpireRunDeps extends EndRunDeps {
  readonly runs: RunStore
  readonly runner: Pick<Runner, 'abort'>
}

/** Ends a run whose deadline has passed. */
export function createExpireRun(deps: ExpireRunDeps): (run: RunRecord) => Promise<void> {
  return async (run) => {
    const { stack: _, ...error } = toRunFailure(budgetError(await ownerOfDeadline(deps, run)))
    const ended = await endRun(deps, run, { status: 'failed', finishReason: 'budget-exhausted', error })
    if (ended !== undefined) deps.runner.abort(run.id, 'budget-exhausted')
  }
}

/** The highest run that has the same deadline as the given run; the runs between them have it too. */
async function ownerOfDeadline(
  deps: Pick<ExpireRunDeps, 'runs'>,
  { id, parentRunId, deadlineAt }: RunRecord,
): Promise<string> {
  const parent = parentRunId === undefined ? undefined : await deps.runs.find(parentRunId, EVERY_ROW)
  return parent !== undefined && parent.deadlineAt === deadlineAt ? ownerOfDeadline(deps, parent) : id
}
