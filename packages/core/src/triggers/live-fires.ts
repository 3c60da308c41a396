import {
  EVERY_ROW,
  type FireRecord,
  type FireStatus,
  type FireStore,
  type RunStore,
  type UnitOfWork,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { eachItem } from '../collections/each-item.ts'

export interface LiveFiresDeps {
  readonly fires: FireStore
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
}

const MAX_STARTED_CHECKED = 200
/** The reason of a fire that was skipped because of `overlap`. */
export const OVERLAP_REASON = 'overlap: the previous run has not ended'
/** Maximum number of pending fires per trigger; further fires are skipped. */
export const MAX_PENDING = 100

export async function countPending({ fires }: Pick<LiveFiresDeps, 'fires'>, triggerId: string): Promise<number> {
  return (await oldestFires(fires, { triggerId, status: 'pending' }, MAX_PENDING)).length
}

/** Follows the pages, because a page may end before `limit`. */
async function oldestFires(
  fires: FireStore,
  filter: { readonly triggerId: string; readonly status: FireStatus },
  limit: number,
): Promise<readonly FireRecord[]> {
  const found: FireRecord[] = []
  for await (const fire of eachItem((cursor) => fires.list(filter, { limit, order: 'asc', cursor }))) {
    if (found.push(fire) === limit) break
  }
  return found
}

/** Whether any run that this trigger started is still active. Marks a fire as failed if its run was deleted. */
export async function hasLiveRun({ fires, runs, unitOfWork }: LiveFiresDeps, triggerId: string): Promise<boolean> {
  const started = await oldestFires(fires, { triggerId, status: 'started' }, MAX_STARTED_CHECKED)
  for (const { id, runId } of started) {
    const run = runId === undefined ? undefined : await runs.find(runId, EVERY_ROW)
    if (run !== undefined && !isTerminal(run.status)) return true
    if (run === undefined) {
      await unitOfWork.commit([{ type: 'fire.end', id, status: 'failed', reason: 'the run was deleted' }])
    }
  }
  return false
}
