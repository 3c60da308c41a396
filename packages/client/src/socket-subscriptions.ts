import type { Pace } from './pace.ts'
import type { PerdureError } from './perdure-error.ts'
import { REPLAY_GAP } from './protocol-tables.ts'
import { finalRefusal } from './socket-closing.ts'
import type { PushedFrame, RpcAnswer, SocketConnection } from './socket-connection.ts'
import type { Event } from './subscription.ts'

/** One subscription, as the shared connection sees it. */
export interface SocketFollower {
  readonly subject: string
  /** Where to subscribe from. */
  cursor(): string | undefined
  /** @param headEventId the newest event of the log when the subscription began */
  onSubscribed(headEventId: string): void
  onEvent(event: Event): void
  onGap(gap: { readonly firstAvailable: string | null; readonly lastEventId: string }): void
  /** Nothing will come any more. */
  onRefused(error: PerdureError): void
  /** No connection can be had now: true when it goes elsewhere, and is no longer to be served. */
  leaves(): boolean
}

/** Who is served over the connection that is open now, if one is. */
export interface SocketRoutes {
  add(follower: SocketFollower): void
  remove(follower: SocketFollower): void
  size(): number
  /** Subscribes everyone on a new connection. */
  open(connection: SocketConnection): void
  /** The connection is gone. */
  close(): void
  push(frame: PushedFrame): void
  fail(error: PerdureError): void
  offerLeave(): void
  /** Ends the connection. */
  hangUp(): void
}

/** How long to wait after a refusal that may pass. */
const REFUSED_MS = 2_000

export function createSocketRoutes(pace: Pace): SocketRoutes {
  /** Each follower with the subscription it asked for last: an answer to an earlier one is undone. */
  const followers = new Map<SocketFollower, { subscriptionId?: string }>()
  const bySubscription = new Map<string, SocketFollower>()
  let connection: SocketConnection | undefined

  const unsubscribe = (subscriptionId: string) => {
    bySubscription.delete(subscriptionId)
    connection?.request('subscription.unsubscribe', { subscriptionId }, () => {})
  }

  const subscribe = (follower: SocketFollower) => {
    const asked: { subscriptionId?: string } = {}
    followers.set(follower, asked)
    const asking = connection
    const cursor = follower.cursor()
    const params = { subject: follower.subject, ...(cursor === undefined ? {} : { lastEventId: cursor }) }
    asking?.request('subscription.subscribe', params, (answer) => {
      const isCurrent = followers.get(follower) === asked
      if ('error' in answer) {
        if (isCurrent) refuse(follower, answer)
        return
      }
      const subscriptionId = String(answer.result.subscriptionId)
      if (!isCurrent) return unsubscribe(subscriptionId)
      asked.subscriptionId = subscriptionId
      bySubscription.set(subscriptionId, follower)
      follower.onSubscribed(String(answer.result.headEventId))
    })
  }

  const refuse = (follower: SocketFollower, answer: Extract<RpcAnswer, { error: unknown }>) => {
    const error = finalRefusal(answer)
    if (error !== undefined || follower.leaves()) {
      followers.delete(follower)
      if (error !== undefined) follower.onRefused(error)
      return
    }
    const refused = followers.get(follower)
    const on = connection
    pace.after(REFUSED_MS * (1 + pace.random()), () => {
      if (connection === on && followers.get(follower) === refused) subscribe(follower)
    })
  }

  const remove = (follower: SocketFollower) => {
    const { subscriptionId } = followers.get(follower) ?? {}
    followers.delete(follower)
    if (subscriptionId !== undefined) unsubscribe(subscriptionId)
  }

  return {
    add(follower) {
      followers.set(follower, {})
      if (connection !== undefined) subscribe(follower)
    },
    remove,
    size: () => followers.size,
    open(opened) {
      connection = opened
      for (const follower of [...followers.keys()]) subscribe(follower)
    },
    close() {
      connection = undefined
      bySubscription.clear()
      for (const asked of followers.values()) delete asked.subscriptionId
    },
    push(frame) {
      const follower = bySubscription.get(String(frame.subscriptionId))
      if (follower === undefined) return
      if (frame.kind === 'event') follower.onEvent(eventOf(frame))
      if (frame.kind === 'error' && frame.code === REPLAY_GAP)
        follower.onGap(frame.data as Parameters<SocketFollower['onGap']>[0])
    },
    fail(error) {
      const failed = [...followers.keys()]
      followers.clear()
      for (const follower of failed) follower.onRefused(error)
    },
    offerLeave() {
      for (const follower of [...followers.keys()]) if (follower.leaves()) remove(follower)
    },
    hangUp: () => connection?.close(),
  }
}

/** The envelope without what only the connection needs, so that both transports give the same. */
function eventOf({ v: _v, kind: _kind, subscriptionId: _id, ...envelope }: PushedFrame): Event {
  return envelope as unknown as Event
}
