import { type ClientContext, type ClientOptions, createContext } from './client-options.ts'
import { eventStreamPath } from './event-stream-path.ts'
import { openSubscription } from './open-subscription.ts'
import { PerdureError } from './perdure-error.ts'
import { followOverSse } from './sse-follower.ts'
import type { SubscribeOptions, Subscription } from './subscription.ts'

export interface SseClient {
  /** Follows a run or a session. @throws PerdureError `validation-failed` for a subject without such a stream */
  subscribe(subject: string, options?: Omit<SubscribeOptions, 'transport' | 'bufferSize'>): Subscription
  /** Ends all subscriptions. */
  close(): void
}

/** Subscriptions over Server-Sent Events alone, without WebSocket and REST: the smallest part that follows a run. */
export function createSseClient(options: ClientOptions): SseClient {
  const context = createContext(options)
  const ending = new AbortController()
  return {
    subscribe: (subject, subscribeOptions = {}) =>
      subscribeOverSse(context, { subject, options: subscribeOptions, closed: ending.signal }),
    close: () => ending.abort(),
  }
}

export function subscribeOverSse(
  context: ClientContext,
  subscribing: Parameters<typeof openSubscription>[0],
): Subscription {
  const path = eventStreamPath(subscribing.subject)
  if (path === undefined) {
    throw new PerdureError('validation-failed', `${subscribing.subject} cannot be followed over Server-Sent Events.`, {
      hint: 'Runs and sessions can; everything else needs a WebSocket.',
    })
  }
  return openSubscription(subscribing, (following) => followOverSse(context, path, following))
}
