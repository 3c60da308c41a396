import type { Pace } from './pace.ts'

/** Limits how many messages a connection sends per time window, to stay below the server's limit. */
export interface MessageBudget {
  /** Sends immediately, or queues until the window has room. */
  spend(send: () => void): void
  /** Drops queued messages. */
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
