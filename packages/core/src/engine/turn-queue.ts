import { EVERY_ROW, type Logger, type RunRecord, type RunStore, type Timers } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { isBefore } from '../runs/turn.ts'
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
  /**
   * Whether the run waits now, because an earlier turn of its session is suspended.
   *
   * @param evict called before the run begins to wait, so that the end of the turn can launch it at any moment from then on
   */
  enter(launch: Pick<Launch, 'run' | 'target'>, evict: () => void): Promise<boolean>
  /** Launches the runs that wait for the end of this turn. */
  release(turnId: string): void
  /** Launches the runs whose turns have ended, after ends of turns in other processes may have been missed. */
  checkAll(): void
  isEmpty(): boolean
}

/** The runs that wait for a turn, by id, and the check of that turn. */
interface Waiting {
  readonly runs: Map<string, RunRecord>
  cancelCheck: () => void
}

/** The end of a turn is noticed at the latest then, if nothing reports it. */
const CHECK_MS = 5_000

/** @param launch called for the queued runs that may start, unless another turn is suspended */
export function createTurnQueue(deps: TurnQueueDeps, launch: (runs: readonly RunRecord[]) => Promise<void>): TurnQueue {
  const { runs, timers, logger } = deps
  const waiting = new Map<string, Waiting>() // by the id of the turn

  const find = (runId: string) => retryTransient(deps, () => runs.find(runId, EVERY_ROW))

  /** Removes the runs that still wait at that time. */
  const leave = (turnId: string, runIds: readonly string[]): ReadonlySet<string> => {
    const ofTurn = waiting.get(turnId)
    const left = new Set(runIds.filter((runId) => ofTurn?.runs.delete(runId)))
    if (ofTurn?.runs.size === 0) {
      ofTurn.cancelCheck()
      waiting.delete(turnId)
    }
    return left
  }

  /** Launches all at once, because the storage may answer the reads in another order. */
  const releaseAll = async (turnId: string) => {
    const runIds = [...(waiting.get(turnId)?.runs.keys() ?? [])]
    const found = await Promise.all(runIds.map(find))
    const left = leave(turnId, runIds)
    await launch(
      found.filter((run) => run !== undefined).filter(({ id, status }) => status === 'queued' && left.has(id)),
    )
  }

  const release = (turnId: string) => {
    if (!waiting.has(turnId)) return
    releaseAll(turnId).catch((error: unknown) =>
      logger.error('could not start the runs that wait for a turn', error, { runId: turnId }),
    )
  }

  const hasEnded = async (turnId: string) => {
    const turn = await find(turnId)
    return turn === undefined || isTerminal(turn.status)
  }

  const check = async (turnId: string) => {
    if (await hasEnded(turnId)) await releaseAll(turnId)
  }

  const checkSafely = (turnId: string) => {
    if (!waiting.has(turnId)) return
    check(turnId).catch((error: unknown) => logger.error('could not read a turn', error, { runId: turnId }))
  }

  const checkLater = (turnId: string): (() => void) =>
    timers.after(CHECK_MS, () => {
      const ofTurn = waiting.get(turnId)
      if (ofTurn === undefined) return
      ofTurn.cancelCheck = checkLater(turnId)
      checkSafely(turnId)
    })

  const wait = (turnId: string, run: RunRecord) => {
    const ofTurn = waiting.get(turnId) ?? { runs: new Map(), cancelCheck: checkLater(turnId) }
    ofTurn.runs.set(run.id, run)
    waiting.set(turnId, ofTurn)
  }

  /** The turn for which an older message of the session waits. It may have ended, or continue after a decision. */
  const turnOfOlder = ({ id, sessionId, targetId, createdAt }: RunRecord): string | undefined => {
    const isOlder = (run: RunRecord) =>
      run.sessionId === sessionId && run.targetId === targetId && isBefore(run, { id, createdAt })
    return [...waiting].find(([, ofTurn]) => [...ofTurn.runs.values()].some(isOlder))?.[0]
  }

  return {
    async enter({ run, target }, evict) {
      if (!waitsForTurns(target, run) || run.execution > 0) return false
      const [turn] = await retryTransient(deps, () => earlierTurns(runs, run))
      const turnId = turn?.id ?? turnOfOlder(run)
      if (turnId === undefined) return false
      wait(turnId, run)
      evict()
      // Here and not where the message is accepted, so that a crash in between changes nothing.
      if (turn !== undefined && target.onBusyWaiting === 'deny') await deps.supersede(turn, run)
      // An end of the turn before the run was waiting has released nobody.
      await check(turnId)
      return true
    },
    release,
    checkAll() {
      for (const turnId of waiting.keys()) checkSafely(turnId)
    },
    isEmpty: () => waiting.size === 0,
  }
}
