import type { ClientContext } from './client-options.ts'
import { isAtOrAfter } from './cursor-gate.ts'
import { eventStreamPath } from './event-stream-path.ts'
import { openSubscription, type Subscribing } from './open-subscription.ts'
import type { RestClient } from './rest-methods.ts'
import { followOverSocket } from './socket-follower.ts'
import type { SocketHub } from './socket-hub.ts'
import { type Following, followOverSse } from './sse-follower.ts'
import { isLastEvent, type Subscription, type SubscriptionItem } from './subscription.ts'

const DEFAULT_BUFFER_SIZE = 1_000

export interface SubscribeDeps {
  readonly context: ClientContext
  readonly rest: Pick<RestClient, 'runs'>
  readonly hub: SocketHub
}

/** A subscription over the shared WebSocket, which goes on over Server-Sent Events where it may and no socket can be had. */
export function subscribeOverSocket(deps: SubscribeDeps, subscribing: Subscribing): Subscription {
  return openSubscription(subscribing, (following) => follow(deps, subscribing, following))
}

async function* follow(
  { context, rest, hub }: SubscribeDeps,
  { subject, options }: Subscribing,
  following: Following,
): AsyncGenerator<SubscriptionItem, void, void> {
  const path = options.transport === 'websocket' ? undefined : eventStreamPath(subject)
  // With tickets from elsewhere and no token, a stream would be refused.
  const canLeave = path !== undefined && (context.token !== undefined || context.tickets === undefined)
  const pastEnd = new AbortController()
  if (options.lastEventId !== undefined) {
    endIfPast(rest, { subject, lastEventId: options.lastEventId, pastEnd, signal: following.signal })
  }

  const bufferSize = Math.max(1, options.bufferSize ?? DEFAULT_BUFFER_SIZE)
  const outcome = yield* followOverSocket(hub, { ...following, bufferSize, canLeave, pastEnd: pastEnd.signal })
  if (outcome === 'moved' && path !== undefined) yield* followOverSse(context, path, following)
}

interface PastEnd {
  readonly subject: string
  readonly lastEventId: string
  readonly pastEnd: AbortController
  readonly signal: AbortSignal
}

/**
 * On a WebSocket nothing tells that a run has ended at or before the cursor, so its newest event is looked at once. Who may
 * not read that waits, and loses nothing.
 */
function endIfPast(rest: SubscribeDeps['rest'], { subject, lastEventId, pastEnd, signal }: PastEnd): void {
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
