import { createCursorGate } from './cursor-gate.ts'
import type { Following } from './sse-follower.ts'
import type { SubscribeOptions, Subscription, SubscriptionItem } from './subscription.ts'

export interface Subscribing {
  readonly subject: string
  readonly options: SubscribeOptions
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal
}

/** A subscription that begins when it is first iterated. */
export function openSubscription(
  { subject, options, closed }: Subscribing,
  follow: (following: Following) => AsyncGenerator<SubscriptionItem, unknown, void>,
): Subscription {
  const ending = new AbortController()
  const signals = [ending.signal, closed, ...(options.signal === undefined ? [] : [options.signal])]
  const signal = AbortSignal.any(signals)
  let { lastEventId } = options

  async function* handOut() {
    try {
      for await (const item of follow({ subject, gate: createCursorGate(lastEventId), signal })) {
        if (signal.aborted) return
        if (item.type === 'event') lastEventId = item.event.eventId
        yield item
      }
    } finally {
      ending.abort()
    }
  }
  const items = handOut()

  return {
    subject,
    get lastEventId() {
      return lastEventId
    },
    close: () => ending.abort(),
    [Symbol.asyncIterator]: () => items,
  }
}
