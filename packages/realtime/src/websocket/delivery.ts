import type { EventFeed, EventSource, FeedPage } from '@berth/core'
import { endsStream } from '../ends-stream.ts'
import type { Outbox } from './outbox.ts'

export interface DeliveryDeps {
  readonly feed: EventFeed
  readonly outbox: Outbox
  /** The log could not be read. */
  readonly onFailed: (error: unknown) => void
}

export interface Follow {
  readonly subscriptionId: string
  readonly source: EventSource
  /** Exclusive position to start from. */
  readonly after: number
}

/** The subscriptions of one connection: each a position in the log, none a queue. One ends with what it follows. */
export interface Delivery {
  follow(follow: Follow): void
  /** False when there is no such subscription. */
  unfollow(subscriptionId: string): boolean
  /** Goes on where there was no room. */
  resume(): void
  size(): number
  close(): void
}

interface Subscription {
  readonly id: string
  readonly source: EventSource
  /** What stands before each envelope of this subscription. */
  readonly head: Uint8Array
  position: number
  unwatch: () => void
}

/** Events of one subscription in a row, so that a busy one does not keep the others waiting. */
const TURN = 64
const BRACE = 1

export function createDelivery({ feed, outbox, onFailed }: DeliveryDeps): Delivery {
  const subscriptions = new Map<string, Subscription>()
  /** Those for which there may be events, in the order of their turns. */
  const behind = new Set<Subscription>()
  const encoder = new TextEncoder()
  let isPumping = false

  const send = (subscription: Subscription, { events, hasMore }: FeedPage) => {
    for (const { envelope, position, type } of events) {
      if (!outbox.hasRoom()) {
        behind.add(subscription)
        return
      }
      outbox.send(concat(subscription.head, envelope))
      subscription.position = position
      if (endsStream(subscription.source.stream, type)) return void unfollow(subscription.id)
    }
    if (hasMore) behind.add(subscription)
  }

  /** Serves whoever is behind, turn by turn, as long as the client takes it. */
  const serve = async () => {
    for (const subscription of behind) {
      if (!outbox.hasRoom()) return outbox.wait()
      outbox.progress()
      behind.delete(subscription)
      const read = feed.read(subscription.source, { after: subscription.position, limit: TURN })
      const page = read instanceof Promise ? await read : read
      if (subscriptions.has(subscription.id)) outbox.together(() => send(subscription, page))
    }
  }

  const pump = () => {
    if (isPumping) return
    isPumping = true
    serve()
      .catch(onFailed)
      .finally(() => {
        isPumping = false
        if (behind.size === 0) outbox.progress()
        else if (outbox.hasRoom()) pump()
        else outbox.wait()
      })
  }

  const wake = (subscription: Subscription) => {
    behind.add(subscription)
    pump()
  }

  const end = (subscription: Subscription) => {
    subscription.unwatch()
    behind.delete(subscription)
    if (behind.size === 0) outbox.progress()
  }

  const unfollow = (subscriptionId: string) => {
    const subscription = subscriptions.get(subscriptionId)
    if (subscription === undefined) return false
    subscriptions.delete(subscriptionId)
    end(subscription)
    return true
  }

  return {
    follow({ subscriptionId, source, after }) {
      const head = encoder.encode(`{"v":"1","kind":"event","subscriptionId":${JSON.stringify(subscriptionId)},`)
      const subscription: Subscription = { id: subscriptionId, source, head, position: after, unwatch: () => {} }
      subscriptions.set(subscriptionId, subscription)
      subscription.unwatch = feed.watch(source, () => wake(subscription))
      wake(subscription)
    },
    unfollow,
    resume: () => {
      if (behind.size > 0) pump()
    },
    size: () => subscriptions.size,
    close() {
      const all = [...subscriptions.values()]
      subscriptions.clear()
      for (const subscription of all) end(subscription)
    },
  }
}

/** The head and the envelope as one object: the brace that opens the envelope is left out. */
function concat(head: Uint8Array, envelope: Uint8Array): Uint8Array {
  const frame = new Uint8Array(head.length + envelope.length - BRACE)
  frame.set(head)
  frame.set(envelope.subarray(BRACE), head.length)
  return frame
}
