import type { Interruption, Interruptions } from './terminal.ts'

/** The part of `process` this needs. */
export interface ProcessEvents {
  on(event: string, listener: (value: unknown) => void): unknown
}

/** A terminal sends Ctrl-C to the whole process group, and npm or a start script sends it on: that is one request. */
const SAME_REQUEST_MS = 50

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export interface InterruptionDeps {
  monotonicMs(): number
  /** Asked inside the listener, where the asynchronous context of the error still holds. */
  isAccountedFor(error: unknown): boolean
}

export function watchInterruptions(events: ProcessEvents, deps: InterruptionDeps): Interruptions {
  const queue: Interruption[] = []
  const waiting: ((interruption: Interruption) => void)[] = []
  let lastSignalMs = Number.NEGATIVE_INFINITY

  const push = (interruption: Interruption) => {
    const taker = waiting.shift()
    if (taker === undefined) queue.push(interruption)
    else taker(interruption)
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
      if (!deps.isAccountedFor(error)) push({ type: 'crash', error })
    })
  }

  return {
    next() {
      const ready = queue.shift()
      return ready === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(ready)
    },
  }
}
