import { isTerminal } from '@perdure/protocol'
import { EVERY_ROW, type FireStore, type RunStore, type UnitOfWork } from '@perdure/ports'

export interface LiveFiresDeps {
  readonly fires: FireStore
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
}

const LOOKED_AT = 200
/** Why a fire is skipped. */
export const OVERLAP = 'overlap: its last run has not ended'
/** Fires of one trigger that wait for its last run to end; a further one is skipped. */
export const MAX_PENDING = 100

export async function countPending({ fires }: Pick<LiveFiresDeps, 'fires'>, triggerId: string): Promise<number> {
  const { items } = await fires.list({ triggerId, status: 'pending' }, { limit: MAX_PENDING, order: 'asc' })
  return items.length
}

/** Whether a run that this trigger has started has not ended. A fire whose run was deleted is settled as failed. */
export async function hasLiveRun({ fires, runs, unitOfWork }: LiveFiresDeps, triggerId: string): Promise<boolean> {
  const started = await fires.list({ triggerId, status: 'started' }, { limit: LOOKED_AT, order: 'asc' })
  for (const { id, runId } of started.items) {
    const run = runId === undefined ? undefined : await runs.find(runId, EVERY_ROW)
    if (run !== undefined && !isTerminal(run.status)) return true
    if (run === undefined) {
      await unitOfWork.commit([{ type: 'fire.end', id, status: 'failed', reason: 'its run was deleted' }])
    }
  }
  return false
}
