import { EVERY_ROW, perdureError, type RunStatus, type RunStore } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { RunWaiters } from '../runs/run-waiters.ts'
import type { Runner } from './runner.ts'
import type { SettleOutcome } from './settle-outcome.ts'

export interface OutcomeWatchDeps extends SupervisedLoopDeps {
  readonly runs: RunStore
  readonly runWaiters: RunWaiters
  readonly settleOutcome: Pick<SettleOutcome, 'settle'>
  readonly runner: Pick<Runner, 'isLive' | 'live' | 'abort' | 'notify'>
}

/**
 * Notices what other processes on the same storage do to the runs of this process. Without it, a caller would wait
 * forever for a run that another process has ended. Start it only if other processes write to the storage.
 */
export interface OutcomeWatch extends Daemon {
  /** Reads the run, and resolves its waiters if it has an outcome. Never rejects. */
  check(runId: string): Promise<void>
  /** Starts the next round now. */
  wake(): void
}

const EVERY_MS = 2_000
/** The runs that one round reads; the next round continues behind them. */
const BATCH = 200

export function createOutcomeWatch(deps: OutcomeWatchDeps): OutcomeWatch {
  const { runs, runWaiters, logger, runner } = deps
  let offset = 0
  /** Runs that had ended in the storage in the last round although they were still live here. */
  let endedOutside: ReadonlySet<string> = new Set()

  const check = async (runId: string) => {
    if (!runWaiters.isAwaited(runId)) return
    try {
      await resolveWaiters(deps, runId)
    } catch (error) {
      logger.warn('could not read the outcome of a run', { runId, error: String(error) })
    }
  }

  const nextBatch = (): readonly string[] => {
    const live = runner.live()
    const own = live.flatMap(({ run, execution }) => (execution ? [run.id] : []))
    // The storage does not know these runs yet.
    const held = new Set(live.flatMap(({ run, start }) => (start?.isStored() === false ? [run.id] : [])))
    const ids = [...new Set([...runWaiters.awaited(), ...own])].filter((id) => !held.has(id))
    if (offset >= ids.length) offset = 0
    const batch = ids.slice(offset, offset + BATCH)
    offset += batch.length
    return batch
  }

  const work = async () => {
    const ids = nextBatch()
    if (ids.length === 0) return EVERY_MS
    // The listed runs have no input and no result, which may be large.
    const { items } = await runs.list({}, { limit: BATCH, order: 'asc' }, { ids })
    const statuses = new Map(items.map((run) => [run.id, run.status]))
    for (const runId of ids) {
      if (ACTIVE.has(statuses.get(runId))) runner.notify(runId)
      else await check(runId)
    }
    abortEnded(ids.filter((runId) => !NOT_ENDED.has(statuses.get(runId))))
    return EVERY_MS
  }

  /** Stops code whose run has ended. A run that this process ends is live a little longer, but not for two rounds. */
  const abortEnded = (runIds: readonly string[]) => {
    const live = runIds.filter((runId) => runner.isLive(runId))
    for (const runId of live) if (endedOutside.has(runId)) runner.abort(runId, 'aborted')
    endedOutside = new Set(live)
  }

  return { ...createSupervisedLoop(deps, { name: 'run outcomes', work }), check }
}

const ACTIVE: ReadonlySet<RunStatus | undefined> = new Set(['queued', 'running'])
const NOT_ENDED: ReadonlySet<RunStatus | undefined> = new Set([...ACTIVE, 'suspended'])

async function resolveWaiters(deps: OutcomeWatchDeps, runId: string): Promise<void> {
  const { runs, runWaiters, runner } = deps
  const run = await runs.find(runId, EVERY_ROW)
  if (run === undefined) return runWaiters.reject(runId, perdureError('run-not-found'))
  if (isTerminal(run.status)) return runWaiters.resolveFromStorage(run)
  // A run that executes or waits in this process reports its suspension itself.
  if (run.status !== 'suspended' || runner.isLive(runId)) return
  await deps.settleOutcome.settle(run)
}
