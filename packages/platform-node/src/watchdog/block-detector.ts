import type { LoopReport } from './loop-state.ts'

export interface BlockLimits {
  /** Report an event loop that is blocked for this long. */
  readonly reportAfterMs: number
  /** End the process when the event loop is blocked for this long; never when missing. */
  readonly maxBlockMs?: number | undefined
  /** Time that the process may take to exit after a signal, and after a second one. */
  readonly stopBudgetMs: number
  readonly forcedStopMs: number
}

export type EndReason = 'max-block' | 'stop-timeout'

/** What the watching thread has to do now. */
export interface Alarm {
  readonly blockedMs: number
  readonly isNew: boolean
  readonly end: EndReason | undefined
}

export interface BlockDetector {
  /** Compares the beats with those of the last check. Call it once per `CHECK_MS` or more often. */
  check(nowMs: number, loop: Pick<LoopReport, 'beats' | 'isDebugged'>): Alarm
  onSignal(nowMs: number): void
  /** Sets the time when the process has to have exited. An earlier time stays. */
  stopWithin(nowMs: number, budgetMs: number): void
  /** When a blocked process is ended, if it is stopping. */
  deadlineMs(): number | undefined
}

export const CHECK_MS = 500

/** A terminal or a start script can repeat a signal. The server counts signals in the same way. */
const SAME_SIGNAL_MS = 50

/** The exit itself takes time. */
const EXIT_RESERVE_MS = 500

/** Only an event loop that is blocked for this long cannot stop the process by itself. */
const STUCK_MS = 1_000

export function createBlockDetector(limits: BlockLimits): BlockDetector {
  let lastBeats: number | undefined
  let lastCheckMs = 0
  let blockedMs = 0
  let isReported = false
  let deadline: number | undefined
  let lastSignalMs: number | undefined

  const stopWithin = (nowMs: number, budgetMs: number) => {
    const atMs = nowMs + Math.max(0, budgetMs - EXIT_RESERVE_MS)
    deadline = Math.min(deadline ?? Number.POSITIVE_INFINITY, atMs)
  }

  const endReason = (nowMs: number): EndReason | undefined => {
    if (blockedMs >= (limits.maxBlockMs ?? Number.POSITIVE_INFINITY)) return 'max-block'
    if (deadline !== undefined && nowMs >= deadline && blockedMs >= STUCK_MS) return 'stop-timeout'
    return undefined
  }

  return {
    check(nowMs, { beats, isDebugged }) {
      // A longer gap means that this thread was suspended too: the process was stopped, or the machine slept.
      const elapsedMs = Math.min(nowMs - lastCheckMs, 2 * CHECK_MS)
      const isBlocked = beats === lastBeats && !isDebugged
      blockedMs = isBlocked ? blockedMs + elapsedMs : 0
      if (!isBlocked) isReported = false
      lastBeats = beats
      lastCheckMs = nowMs
      const end = endReason(nowMs)
      const isNew = !isReported && (end !== undefined || blockedMs >= limits.reportAfterMs)
      isReported ||= isNew
      return { blockedMs, isNew, end }
    },
    onSignal(nowMs) {
      if (lastSignalMs !== undefined && nowMs - lastSignalMs < SAME_SIGNAL_MS) return
      stopWithin(nowMs, lastSignalMs === undefined ? limits.stopBudgetMs : limits.forcedStopMs)
      lastSignalMs = nowMs
    },
    stopWithin,
    deadlineMs: () => deadline,
  }
}
