import type { ClientContext } from './client-options.ts'
import { isAtOrAfter } from './cursor-gate.ts'
import { eventStreamPath } from './event-stream-path.ts'
import { openSubscription, type SubscribeRequest } from './open-subscription.ts'
import type { RestClient } from './rest-methods.ts'
import { followOverSocket } from './socket-follower.ts'
import type { SocketHub } from './socket-hub.ts'
import { type FollowRequest, followOverSse } from './sse-follower.ts'
import { isLastEvent, type Subscription, type SubscriptionItem } from './subscription.ts'

const DEFAULT_BUFFER_SIZE = 1_000

export interface SubscribeDeps {
  readonly context: ClientContext
  readonly rest: Pick<RestClient, 'runs'>
  readonly hub: SocketHub
}

/** Subscribes over the shared WebSocket, falling back to Server-Sent Events if no WebSocket can be opened. */
export function subscribeOverSocket(deps: SubscribeDeps, request: SubscribeRequest): Subscription {
  return openSubscription(request, (followRequest) => follow(deps, request, followRequest))
}

async function* follow(
  { context, rest, hub }: SubscribeDeps,
  { subject, options }: SubscribeRequest,
  followRequest: FollowRequest,
): AsyncGenerator<SubscriptionItem, void, void> {
  const path = options.transport === 'websocket' ? undefined : eventStreamPath(subject)
  // A ticket does not authenticate an event stream, so a client with tickets but no token cannot fall back.
  const canFallBack = path !== undefined && (context.token !== undefined || context.tickets === undefined)
  const pastEnd = new AbortController()
  if (options.lastEventId !== undefined) {
    endIfCursorIsPastEnd(rest, { subject, lastEventId: options.lastEventId, pastEnd, signal: followRequest.signal })
  }

  const bufferSize = Math.max(1, options.bufferSize ?? DEFAULT_BUFFER_SIZE)
  const outcome = yield* followOverSocket(hub, { ...followRequest, bufferSize, canFallBack, pastEnd: pastEnd.signal })
  if (outcome === 'fallback' && path !== undefined) yield* followOverSse(context, path, followRequest)
}

interface PastEnd {
  readonly subject: string
  readonly lastEventId: string
  readonly pastEnd: AbortController
  readonly signal: AbortSignal
}

/**
 * A WebSocket does not report that a run ended at or before the cursor, so this reads the run's newest event once. If
 * that read fails, the subscription just waits.
 */
function endIfCursorIsPastEnd(rest: SubscribeDeps['rest'], { subject, lastEventId, pastEnd, signal }: PastEnd): void {
  const runId = /\/runs\/([^/]+)\//.exec(subject)?.[1]
  if (runId === undefined) return
  const newestPage = rest.runs.events(runId, { order: 'desc', limit: 1 }, { signal })
  newestPage.then(
    ({ items: [newest] }) => {
      if (newest !== undefined && isLastEvent(subject, newest) && isAtOrAfter(lastEventId, newest.eventId))
        pastEnd.abort()
    },
    () => {},
  )
}
