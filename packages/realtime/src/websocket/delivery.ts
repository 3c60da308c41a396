import { createBoundedMap, type EventFeed, type EventSource, type FeedPage } from '@perdure/core'
import type { Connection, Subscription } from './connection.ts'
import type { Outbox } from './outbox.ts'
import type { FramesOf } from './page-frames.ts'

export interface DeliveryDeps {
  readonly feed: EventFeed
  readonly outbox: Outbox
  readonly framesOf: FramesOf
  /** Called when the log cannot be read. */
  readonly onFailed: (connection: Connection, error: unknown) => void
}

export interface Follow {
  readonly subscriptionId: string
  readonly source: EventSource
  /** Exclusive position to start from. */
  readonly after: number
}

/** Delivers events to subscriptions. A subscription is a position in the log, not a queue. */
export interface Delivery {
  /**
   * Returns a subscription id that is new on this connection. All connections use the same series of ids, so that they
   * can share encoded frames.
   */
  nextId(connection: Connection): string
  follow(connection: Connection, follow: Follow): void
  /** Returns false if there is no such subscription. */
  unfollow(connection: Connection, subscriptionId: string): boolean
  /** Continues a delivery that had stopped because the client was not reading. */
  resume(connection: Connection): void
  /** Ends all subscriptions. */
  close(connection: Connection): void
}

/** Limit per subscription, so that a busy subscription does not delay the others on its connection. */
const MAX_EVENTS_PER_TURN = 64
/** Limit for a subscription that delays no other: each turn is a write to the socket. */
const MAX_EVENTS_ALONE = 256

const MAX_SHARED_SOURCES = 1_000

export function createDelivery({ feed, outbox, framesOf, onFailed }: DeliveryDeps): Delivery {
  const sources = createBoundedMap<string, EventSource>(MAX_SHARED_SOURCES)

  /** Shares one object among all subscriptions to a subject. */
  const shareSource = (source: EventSource): EventSource => {
    const known = sources.get(source.subject)
    if (known?.epoch === source.epoch) return known
    sources.set(source.subject, source)
    return source
  }

  const addBehind = (subscription: Subscription) => {
    const { connection } = subscription
    connection.behind ??= new Set()
    connection.behind.add(subscription)
  }

  const send = (subscription: Subscription, page: FeedPage) => {
    const { connection } = subscription
    for (const { bytes, through, isLast } of framesOf(page, subscription)) {
      if (!outbox.hasRoom(connection)) return addBehind(subscription)
      outbox.sendFrames(connection, bytes)
      subscription.position = through
      if (isLast) return void unfollow(connection, subscription.id)
    }
    if (page.hasMore) addBehind(subscription)
  }

  const sendIfSubscribed = (subscription: Subscription, page: FeedPage) => {
    if (subscription.connection.subscriptions.includes(subscription)) send(subscription, page)
  }

  /**
   * Lets the subscriptions that are behind take turns, while the client keeps reading and the events are in memory. If
   * the next events must be read from storage, returns a promise to wait for.
   */
  const serve = (connection: Connection, behind: Set<Subscription>): Promise<void> | undefined => {
    for (const subscription of behind) {
      if (!outbox.hasRoom(connection)) return undefined
      outbox.madeProgress(connection)
      behind.delete(subscription)
      const limit = behind.size === 0 ? MAX_EVENTS_ALONE : MAX_EVENTS_PER_TURN
      const page = feed.read(subscription.source, { after: subscription.position, limit })
      if (page instanceof Promise) return page.then((read) => sendIfSubscribed(subscription, read))
      sendIfSubscribed(subscription, page)
    }
    return undefined
  }

  const pump = (connection: Connection) => {
    const { isPumping, behind } = connection
    if (isPumping || behind === undefined) return
    connection.isPumping = true
    try {
      const reading = serve(connection, behind)
      if (reading !== undefined) return void pumpAfter(connection, reading)
      connection.isPumping = false
      if (behind.size > 0) outbox.expectProgress(connection)
      else connection.behind = undefined
    } catch (error) {
      fail(connection, error)
    }
  }

  const pumpAfter = async (connection: Connection, reading: Promise<void>) => {
    try {
      await reading
    } catch (error) {
      return fail(connection, error)
    }
    connection.isPumping = false
    pump(connection)
  }

  const fail = (connection: Connection, error: unknown) => {
    connection.isPumping = false
    onFailed(connection, error)
  }

  const wake = (subscription: Subscription) => {
    addBehind(subscription)
    pump(subscription.connection)
  }

  const stopWatching = (subscription: Subscription) => {
    const { connection, source } = subscription
    feed.unwatch(source, subscription)
    connection.behind?.delete(subscription)
    if ((connection.behind?.size ?? 0) === 0) outbox.madeProgress(connection)
  }

  const unfollow = (connection: Connection, subscriptionId: string) => {
    const subscription = connection.subscriptions.find(({ id }) => id === subscriptionId)
    if (subscription === undefined) return false
    connection.subscriptions = connection.subscriptions.filter((one) => one !== subscription)
    stopWatching(subscription)
    return true
  }

  return {
    nextId: (connection) => `sub_${++connection.lastSubscriptionNumber}`,
    follow(connection, { subscriptionId, source: opened, after }) {
      const source = shareSource(opened)
      const subscription: Subscription = { id: subscriptionId, source, connection, position: after, wake }
      connection.subscriptions = connection.subscriptions.concat(subscription)
      feed.watch(source, subscription)
      wake(subscription)
    },
    unfollow,
    resume: pump,
    close(connection) {
      const { subscriptions } = connection
      connection.subscriptions = []
      for (const subscription of subscriptions) stopWatching(subscription)
    },
  }
}
