import type { EventFeed, EventSource, FeedPage } from '@berth/core'
import type { Outbox } from './outbox.ts'
import type { Addressee, FramesOf } from './page-frames.ts'

export interface DeliveryDeps {
  readonly feed: EventFeed
  readonly outbox: Outbox
  readonly framesOf: FramesOf
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
  /**
   * An id that no subscription of the connection has had. Those of other connections have it too, so that what they are
   * sent is the same.
   */
  nextId(): string
  follow(follow: Follow): void
  /** False when there is no such subscription. */
  unfollow(subscriptionId: string): boolean
  /** Goes on where there was no room. */
  resume(): void
  size(): number
  close(): void
}

interface Subscription extends Addressee {
  position: number
  unwatch: () => void
}

/** Events of one subscription in a row, so that a busy one does not keep the others waiting. */
const TURN = 64

export function createDelivery({ feed, outbox, framesOf, onFailed }: DeliveryDeps): Delivery {
  const subscriptions = new Map<string, Subscription>()
  /** Those for which there may be events, in the order of their turns. */
  const behind = new Set<Subscription>()
  let isPumping = false
  let named = 0

  const send = (subscription: Subscription, page: FeedPage) => {
    for (const { bytes, through, isLast } of framesOf(page, subscription)) {
      if (!outbox.hasRoom()) {
        behind.add(subscription)
        return
      }
      outbox.sendFrames(bytes)
      subscription.position = through
      if (isLast) return void unfollow(subscription.id)
    }
    if (page.hasMore) behind.add(subscription)
  }

  /**
   * Serves whoever is behind, turn by turn, as long as the client takes it and the events are in memory. The read of the
   * log that it has to wait for, if any.
   */
  const serve = (): Promise<void> | undefined => {
    for (const subscription of behind) {
      if (!outbox.hasRoom()) return undefined
      outbox.progress()
      behind.delete(subscription)
      const take = (page: FeedPage) => {
        if (subscriptions.has(subscription.id)) send(subscription, page)
      }
      const page = feed.read(subscription.source, { after: subscription.position, limit: TURN })
      if (page instanceof Promise) return page.then(take)
      take(page)
    }
    return undefined
  }

  const pump = () => {
    if (isPumping) return
    isPumping = true
    try {
      const reading = serve()
      if (reading !== undefined) return void reading.then(goOn, fail)
      isPumping = false
      if (behind.size === 0) outbox.progress()
      else outbox.wait()
    } catch (error) {
      fail(error)
    }
  }

  const goOn = () => {
    isPumping = false
    pump()
  }

  const fail = (error: unknown) => {
    isPumping = false
    onFailed(error)
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
    nextId: () => `sub_${++named}`,
    follow({ subscriptionId, source, after }) {
      const subscription: Subscription = { id: subscriptionId, source, position: after, unwatch: () => {} }
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
