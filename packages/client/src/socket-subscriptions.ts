import type { PerdureError } from '@perdure/protocol/error'
import { finalRefusal } from './close-policy.ts'
import type { Pace } from './pace.ts'
import { REPLAY_GAP } from './protocol-tables.ts'
import type { PushedFrame, RpcAnswer, SocketConnection } from './socket-connection.ts'
import type { Event } from './subscription.ts'

/** One subscription on the shared connection. */
export interface SocketFollower {
  readonly subject: string
  /** The cursor to subscribe from. */
  cursor(): string | undefined
  /** @param headEventId the newest event of the log when the subscription began */
  onSubscribed(headEventId: string): void
  onEvent(event: Event): void
  onGap(gap: { readonly firstAvailable: string | null; readonly lastEventId: string }): void
  /** Called when the subscription has failed permanently. */
  onRefused(error: PerdureError): void
  /** Asks the follower to switch to Server-Sent Events; returns true if it does. */
  fallBack(): boolean
}

/** The subscriptions that share a WebSocket. They survive its reconnects. */
export interface SocketSubscriptions {
  add(follower: SocketFollower): void
  remove(follower: SocketFollower): void
  size(): number
  /** Subscribes all followers on a new connection. */
  open(connection: SocketConnection): void
  /** Call when the connection has closed. */
  close(): void
  push(frame: PushedFrame): void
  fail(error: PerdureError): void
  /** Asks every follower to switch to Server-Sent Events and removes those that do. */
  fallBack(): void
  /** Closes the connection. */
  disconnect(): void
}

/** Delay before resubscribing after a transient error. */
const RESUBSCRIBE_DELAY_MS = 2_000

export function createSocketSubscriptions(pace: Pace): SocketSubscriptions {
  /**
   * Each follower with its latest subscribe request. If an earlier request still succeeds, its subscription is
   * unsubscribed.
   */
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
    if (error !== undefined || follower.fallBack()) {
      followers.delete(follower)
      if (error !== undefined) follower.onRefused(error)
      return
    }
    const refused = followers.get(follower)
    const on = connection
    pace.after(RESUBSCRIBE_DELAY_MS * (1 + pace.random()), () => {
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
    fallBack() {
      for (const follower of [...followers.keys()]) if (follower.fallBack()) remove(follower)
    },
    disconnect: () => connection?.close(),
  }
}

/** Strips the WebSocket-only fields, so that both transports deliver the same event. */
function eventOf({ v: _v, kind: _kind, subscriptionId: _id, ...envelope }: PushedFrame): Event {
  return envelope as unknown as Event
}
