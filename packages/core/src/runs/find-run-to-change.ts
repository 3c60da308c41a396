import { perdureError, type RunRecord, type RunStore, type Visibility } from '@perdure/ports'
import { authorizeTarget } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'

export interface RunToChange {
  readonly runId: string
  /** Which runs the caller may see. */
  readonly visibility: Visibility
  /** The caller; missing when the server itself changes the run. */
  readonly principal?: Principal | undefined
}

/**
 * Finds a run to abort or resume.
 *
 * @throws PerdureError `run-not-found` when the run does not exist or is not visible; `scope-denied` when the run is
 *   visible, but the principal may not start its target
 */
export async function findRunToChange(
  { runs }: { readonly runs: RunStore },
  { runId, visibility, principal }: RunToChange,
): Promise<RunRecord> {
  const run = await runs.find(runId, visibility)
  if (run === undefined) throw perdureError('run-not-found')
  if (principal !== undefined) authorizeTarget(principal, { kind: run.kind, id: run.targetId })
  return run
}
