import { EVERY_ROW, type FireStore, type RunStore, type UnitOfWork } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'

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
  const { items } = await fires.list({ triggerId, status: 'pending' }, { limit: MAX_PENDING, order: 'asc' })
  return items.length
}

/** Whether any run that this trigger started is still active. Marks a fire as failed if its run was deleted. */
export async function hasLiveRun({ fires, runs, unitOfWork }: LiveFiresDeps, triggerId: string): Promise<boolean> {
  const started = await fires.list({ triggerId, status: 'started' }, { limit: MAX_STARTED_CHECKED, order: 'asc' })
  for (const { id, runId } of started.items) {
    const run = runId === undefined ? undefined : await runs.find(runId, EVERY_ROW)
    if (run !== undefined && !isTerminal(run.status)) return true
    if (run === undefined) {
      await unitOfWork.commit([{ type: 'fire.end', id, status: 'failed', reason: 'the run was deleted' }])
    }
  }
  return false
}
