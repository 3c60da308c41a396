import { createCursorGate } from './cursor-gate.ts'
import type { FollowRequest } from './sse-follower.ts'
import type { SubscribeOptions, Subscription, SubscriptionItem } from './subscription.ts'

export interface SubscribeRequest {
  readonly subject: string
  readonly options: SubscribeOptions
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal
}

/** Creates a subscription that starts when it is first iterated. */
export function openSubscription(
  { subject, options, closed }: SubscribeRequest,
  follow: (followRequest: FollowRequest) => AsyncGenerator<SubscriptionItem, unknown, void>,
): Subscription {
  const ending = new AbortController()
  const signals = [ending.signal, closed, ...(options.signal === undefined ? [] : [options.signal])]
  const signal = AbortSignal.any(signals)
  let { lastEventId } = options
  let isSubscribed = false
  const onSubscribed = () => {
    if (isSubscribed) return
    isSubscribed = true
    options.onSubscribed?.()
  }

  async function* iterate() {
    try {
      for await (const item of follow({ subject, gate: createCursorGate(lastEventId), onSubscribed, signal })) {
        if (signal.aborted) return
        if (item.type === 'event') lastEventId = item.event.eventId
        yield item
      }
    } finally {
      ending.abort()
    }
  }
  const items = iterate()

  return {
    subject,
    get lastEventId() {
      return lastEventId
    },
    close: () => ending.abort(),
    [Symbol.asyncIterator]: () => items,
  }
}
