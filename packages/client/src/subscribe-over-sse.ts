import { PerdureError } from '@perdure/protocol/error'
import type { ClientContext } from './client-options.ts'
import { eventStreamPath } from './event-stream-path.ts'
import { openSubscription, type SubscribeRequest } from './open-subscription.ts'
import { followOverSse } from './sse-follower.ts'
import type { Subscription } from './subscription.ts'

/** Subscribes to a run or session. @throws PerdureError `validation-failed` for any other subject */
export function subscribeOverSse(context: ClientContext, request: SubscribeRequest): Subscription {
  const path = eventStreamPath(request.subject)
  if (path === undefined) {
    throw new PerdureError('validation-failed', `${request.subject} cannot be followed over Server-Sent Events.`, {
      hint: 'Use a client with a WebSocket; Server-Sent Events exist for runs and sessions only.',
    })
  }
  return openSubscription(request, (followRequest) => followOverSse(context, path, followRequest))
}
