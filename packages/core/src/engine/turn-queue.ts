import { EVERY_ROW, type Logger, type RunRecord, type RunStore, type Timers } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { earlierTurns, waitsForTurns } from './earlier-turn.ts'
import type { Launch } from './live-runs.ts'
import type { Supersede } from './supersede.ts'

export interface TurnQueueDeps extends RetryDeps {
  readonly runs: Pick<RunStore, 'find' | 'list'>
  readonly timers: Timers
  readonly logger: Logger
  readonly supersede: Supersede
}

/** The runs of this process that wait for a suspended turn of their session. They hold no slot meanwhile. */
export interface TurnQueue {
  /** Whether the run waits now, because an earlier turn of its session is suspended. */
  enter(launch: Pick<Launch, 'run' | 'target'>): Promise<boolean>
  /** Launches the runs that wait for the end of this turn. */
  release(turnId: string): void
}

/** In a cluster, the end of a turn may be unknown here, and a turn may end while a run begins to wait for it. */
const CHECK_MS = 5_000

/** @param launch called for a queued run that may start, unless another turn is suspended */
export function createTurnQueue(deps: TurnQueueDeps, launch: (run: RunRecord) => void): TurnQueue {
  const { runs, timers, logger } = deps
  const waiting = new Map<string, Set<string>>() // run ids, by the id of the turn

  const leave = async (turnId: string, runId: string) => {
    const ofTurn = waiting.get(turnId)
    if (ofTurn?.delete(runId) !== true) return
    if (ofTurn.size === 0) waiting.delete(turnId)
    const run = await retryTransient(deps, () => runs.find(runId, EVERY_ROW))
    if (run?.status === 'queued') launch(run)
  }

  const leaveSafely = (turnId: string, runId: string) => {
    leave(turnId, runId).catch((error: unknown) => logger.error('could not start a waiting run', error, { runId }))
  }

  return {
    async enter({ run, target }) {
      if (!waitsForTurns(target, run) || run.execution > 0) return false
      const [turn] = await retryTransient(deps, () => earlierTurns(runs, run))
      if (turn === undefined) return false
      waiting.set(turn.id, new Set([...(waiting.get(turn.id) ?? []), run.id]))
      timers.after(CHECK_MS, () => leaveSafely(turn.id, run.id))
      // Here and not where the message is accepted, so that a crash in between changes nothing.
      if (target.onBusyWaiting === 'deny') await deps.supersede(turn, run)
      return true
    },
    release(turnId) {
      for (const runId of waiting.get(turnId) ?? []) leaveSafely(turnId, runId)
    },
  }
}
