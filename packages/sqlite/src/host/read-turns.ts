/** Spreads long reads over turns of the event loop, so that callers that read much do not block the others together. */
export interface ReadTurns {
  /**
   * Runs the read now or, after a long read in this turn of the event loop, in a later turn. Reads run in the order of
   * the calls.
   */
  run<Result>(read: () => Result): Promise<Result>
}

/** A turn in which reads took this long leaves the rest to later turns. */
const LONG_MS = 4

/** Shorter reads do not count, which spares them the end of the turn. */
const COUNTED_MS = 0.2

/** @param nowMs a monotonic clock */
export function createReadTurns(nowMs: () => number = () => performance.now()): ReadTurns {
  const waiting: (() => void)[] = []
  let spentMs = 0
  let isScheduled = false
  /** Whether a waiting read has been released and has not begun yet. */
  let isReleasing = false

  /** Releases one read at a time, in the order of the calls: callers rely on it, such as runs that join a lane. */
  const releaseNext = () => {
    if (isReleasing || spentMs >= LONG_MS) return
    const release = waiting.shift()
    isReleasing = release !== undefined
    release?.()
  }

  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      spentMs = 0
      releaseNext()
      if (waiting.length > 0) schedule()
    })
  }

  return {
    async run(read) {
      if (isReleasing || waiting.length > 0 || spentMs >= LONG_MS) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          schedule()
        })
        isReleasing = false
      }
      const startedMs = nowMs()
      try {
        return read()
      } finally {
        const tookMs = nowMs() - startedMs
        if (tookMs >= COUNTED_MS) {
          spentMs += tookMs
          schedule()
        }
        releaseNext()
      }
    },
  }
}
