import { createBoundedMap, type EventFeed, type EventSource, type FeedPage } from '@perdure/core'
import type { Connection, Subscription } from './connection.ts'
import type { Outbox } from './outbox.ts'
import type { FramesOf } from './page-frames.ts'

export interface DeliveryDeps {
  readonly feed: EventFeed
  readonly outbox: Outbox
  readonly framesOf: FramesOf
  /** The log could not be read. */
  readonly onFailed: (connection: Connection, error: unknown) => void
}

export interface Follow {
  readonly subscriptionId: string
  readonly source: EventSource
  /** Exclusive position to start from. */
  readonly after: number
}

/** The subscriptions of each connection: each a position in the log, none a queue. One ends with what it follows. */
export interface Delivery {
  /**
   * An id that no subscription of the connection has had. Those of other connections have it too, so that what they are
   * sent is the same.
   */
  nextId(connection: Connection): string
  follow(connection: Connection, follow: Follow): void
  /** False when there is no such subscription. */
  unfollow(connection: Connection, subscriptionId: string): boolean
  /** Goes on where there was no room. */
  resume(connection: Connection): void
  /** Ends all subscriptions. */
  close(connection: Connection): void
}

/** Events of one subscription in a row, so that a busy one does not keep the others waiting. */
const TURN = 64

const MAX_SHARED_SOURCES = 1_000

export function createDelivery({ feed, outbox, framesOf, onFailed }: DeliveryDeps): Delivery {
  const sources = createBoundedMap<string, EventSource>(MAX_SHARED_SOURCES)

  /** One object for the many who follow the same subject. */
  const share = (source: EventSource): EventSource => {
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

  const take = (subscription: Subscription, page: FeedPage) => {
    if (subscription.connection.subscriptions.includes(subscription)) send(subscription, page)
  }

  /**
   * Serves whoever is behind, turn by turn, as long as the client takes it and the events are in memory. The read of the
   * log that it has to wait for, if any.
   */
  const serve = (connection: Connection, behind: Set<Subscription>): Promise<void> | undefined => {
    for (const subscription of behind) {
      if (!outbox.hasRoom(connection)) return undefined
      outbox.progress(connection)
      behind.delete(subscription)
      const page = feed.read(subscription.source, { after: subscription.position, limit: TURN })
      if (page instanceof Promise) return page.then((read) => take(subscription, read))
      take(subscription, page)
    }
    return undefined
  }

  const pump = (connection: Connection) => {
    const { isPumping, behind } = connection
    if (isPumping || behind === undefined) return
    connection.isPumping = true
    try {
      const reading = serve(connection, behind)
      if (reading !== undefined) return void waitFor(connection, reading)
      connection.isPumping = false
      if (behind.size > 0) outbox.wait(connection)
      else connection.behind = undefined
    } catch (error) {
      fail(connection, error)
    }
  }

  const waitFor = async (connection: Connection, reading: Promise<void>) => {
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

  const end = (subscription: Subscription) => {
    const { connection, source } = subscription
    feed.unwatch(source, subscription)
    connection.behind?.delete(subscription)
    if ((connection.behind?.size ?? 0) === 0) outbox.progress(connection)
  }

  const unfollow = (connection: Connection, subscriptionId: string) => {
    const subscription = connection.subscriptions.find(({ id }) => id === subscriptionId)
    if (subscription === undefined) return false
    connection.subscriptions = connection.subscriptions.filter((one) => one !== subscription)
    end(subscription)
    return true
  }

  return {
    nextId: (connection) => `sub_${++connection.named}`,
    follow(connection, { subscriptionId, source: opened, after }) {
      const source = share(opened)
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
      for (const subscription of subscriptions) end(subscription)
    },
  }
}
