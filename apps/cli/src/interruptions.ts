import type { Interruption, Interruptions } from './terminal.ts'

/** The part of `process` that is needed here. */
export interface ProcessEvents {
  on(event: string, listener: (value: unknown) => void): unknown
}

/**
 * A terminal sends Ctrl-C to the whole process group, and npm or a start script forwards it again. Both count as one
 * signal.
 */
const SAME_REQUEST_MS = 50

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export interface InterruptionDeps {
  monotonicMs(): number
  /** Called inside the listener, while the async context of the error is still active. */
  isHandled(error: unknown): boolean
}

export function watchInterruptions(events: ProcessEvents, deps: InterruptionDeps): Interruptions {
  const queue: Interruption[] = []
  const waiting: ((interruption: Interruption) => void)[] = []
  let lastSignalMs = Number.NEGATIVE_INFINITY

  const push = (interruption: Interruption) => {
    const waiter = waiting.shift()
    if (waiter === undefined) queue.push(interruption)
    else waiter(interruption)
  }

  for (const signal of SIGNALS) {
    events.on(signal, () => {
      const now = deps.monotonicMs()
      if (now - lastSignalMs < SAME_REQUEST_MS) return
      lastSignalMs = now
      push({ type: 'signal', signal })
    })
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    events.on(event, (error) => {
      if (!deps.isHandled(error)) push({ type: 'crash', error })
    })
  }

  return {
    next() {
      const ready = queue.shift()
      return ready === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(ready)
    },
  }
}
