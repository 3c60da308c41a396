import { AppError, type RunRecord, type RunStore, type Visibility } from '@perdure/ports'
import { authorizeTarget } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'

export interface RunToChange {
  readonly runId: string
  /** What who asks sees. */
  readonly visibility: Visibility
  /** Who asks; missing when it is the server itself. */
  readonly principal?: Principal | undefined
}

/**
 * A run that is to be aborted or resumed.
 *
 * @throws AppError `run-not-found` also for one that the principal does not see; `scope-denied` for one that it sees, of a
 *   target that it may not start
 */
export async function findRunToChange(
  { runs }: { readonly runs: RunStore },
  { runId, visibility, principal }: RunToChange,
): Promise<RunRecord> {
  const run = await runs.find(runId, visibility)
  if (run === undefined) throw new AppError('run-not-found')
  if (principal !== undefined) authorizeTarget(principal, { kind: run.kind, id: run.targetId })
  return run
}
