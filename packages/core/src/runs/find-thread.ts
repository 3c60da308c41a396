import { EVERY_ROW, perdureError, type RunRecord, type RunStore, type Visibility } from '@perdure/ports'

export interface ThreadRef {
  readonly workflowId: string
  readonly threadId: string
}

/**
 * Finds the newest run of a thread; the thread is visible if this run is. `undefined` for a thread without runs.
 *
 * @throws PerdureError `thread-not-found` when the newest run is not visible
 */
export async function findThread(
  runs: RunStore,
  { workflowId, threadId }: ThreadRef,
  visibility: Visibility,
): Promise<RunRecord | undefined> {
  const filter = { kind: 'workflow', targetId: workflowId, threadId } as const
  const { items } = await runs.list(filter, { limit: 1, order: 'desc' }, EVERY_ROW)
  const [run] = items
  if (run === undefined || visibility === EVERY_ROW) return run
  const seen = await runs.find(run.id, visibility)
  if (seen === undefined) throw perdureError('thread-not-found')
  return seen
}
