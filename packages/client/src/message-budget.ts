import type { Pace } from './pace.ts'

/** Keeps a connection below the number of messages that the server takes in a window of time. */
export interface MessageBudget {
  /** Sends now, or in its turn as soon as there is room. */
  spend(send: () => void): void
  /** Forgets what has not been sent. */
  close(): void
}

export interface MessageLimit {
  readonly maxMessages: number
  readonly windowMs: number
}

export function createMessageBudget(pace: Pace, { maxMessages, windowMs }: MessageLimit): MessageBudget {
  const waiting: (() => void)[] = []
  const cancels = new Set<() => void>()

  const sendNow = (send: () => void) => {
    const cancel = pace.after(windowMs, () => {
      cancels.delete(cancel)
      const next = waiting.shift()
      if (next !== undefined) sendNow(next)
    })
    cancels.add(cancel)
    send()
  }

  return {
    spend(send) {
      if (cancels.size < maxMessages) sendNow(send)
      else waiting.push(send)
    },
    close() {
      waiting.length = 0
      for (const cancel of cancels) cancel()
      cancels.clear()
    },
  }
}
