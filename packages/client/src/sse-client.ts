import { type ClientContext, type ClientOptions, createContext } from './client-options.ts'
import { eventStreamPath } from './event-stream-path.ts'
import { openSubscription } from './open-subscription.ts'
import { PerdureError } from './perdure-error.ts'
import { followOverSse } from './sse-follower.ts'
import type { SubscribeOptions, Subscription } from './subscription.ts'

export interface SseClient {
  /** Subscribes to a run or session. @throws PerdureError `validation-failed` for any other subject */
  subscribe(subject: string, options?: Omit<SubscribeOptions, 'transport' | 'bufferSize'>): Subscription
  /** Ends all subscriptions. */
  close(): void
}

/** Creates a client with subscriptions over Server-Sent Events only: the smallest bundle that can follow a run. */
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
  request: Parameters<typeof openSubscription>[0],
): Subscription {
  const path = eventStreamPath(request.subject)
  if (path === undefined) {
    throw new PerdureError('validation-failed', `${request.subject} cannot be followed over Server-Sent Events.`, {
      hint: 'Use createClient with a WebSocket; Server-Sent Events exist for runs and sessions only.',
    })
  }
  return openSubscription(request, (followRequest) => followOverSse(context, path, followRequest))
}
