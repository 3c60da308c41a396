import { EVERY_ROW, type RunStore } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { findThread } from '../runs/find-thread.ts'
import type { RunTarget } from '../targets/run-target.ts'
import type { StartRunRequest } from './start-request.ts'
import { type ThreadClaims, threadBusy } from './thread-claims.ts'

/**
 * Claims the thread to continue. Without a thread id it claims nothing: the run gets a new thread, which no other
 * request can claim.
 *
 * @throws PerdureError `agent-busy`
 */
export function claimThread(claims: ThreadClaims, { kind, id }: RunTarget, threadId: string | undefined): () => void {
  if (kind !== 'workflow' || threadId === undefined) return () => undefined
  return claims.claim({ workflowId: id, threadId })
}

/**
 * Rejects a run in a thread that the caller cannot see. Called before the thread is claimed, so that such a caller
 * neither locks the thread nor learns that it is locked.
 *
 * @throws PerdureError `thread-not-found`
 */
export async function refuseHiddenThread(
  runs: RunStore,
  { target: { id }, body: { threadId }, visibility = EVERY_ROW }: StartRunRequest,
): Promise<void> {
  if (threadId !== undefined) await findThread(runs, { workflowId: id, threadId }, visibility)
}

/**
 * Rejects a run in a thread that still executes or that the caller cannot see.
 *
 * @throws PerdureError `thread-not-found`, `agent-busy`
 */
export async function refuseBusyThread(runs: RunStore, request: StartRunRequest): Promise<void> {
  const { threadId } = request.body
  if (threadId === undefined) return
  await refuseHiddenThread(runs, request)
  const { kind, id } = request.target
  const filter = { kind, targetId: id, threadId, statuses: ACTIVE_RUN_STATUSES } as const
  const { items } = await runs.list(filter, { limit: 1, order: 'asc' }, EVERY_ROW)
  if (items.length > 0) throw threadBusy()
}
