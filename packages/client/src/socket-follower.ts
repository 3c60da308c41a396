import { createItemBuffer } from './item-buffer.ts'
import type { SocketHub } from './socket-hub.ts'
import type { SocketFollower } from './socket-subscriptions.ts'
import type { FollowRequest } from './sse-follower.ts'
import { isLastEvent, isRunSubject, type SubscriptionItem } from './subscription.ts'

export interface SocketFollowRequest extends FollowRequest {
  /** Maximum buffered items; a full buffer unsubscribes. */
  readonly bufferSize: number
  /** Whether the subject can be followed over Server-Sent Events instead. */
  readonly canFallBack: boolean
  /** Aborted once it is known that no more events will come. */
  readonly pastEnd: AbortSignal
}

/**
 * Follows a subject over the shared WebSocket. A browser's WebSocket cannot be paused, so a full buffer unsubscribes;
 * the subscription resumes at its cursor once the consumer has taken half of the buffer.
 *
 * @returns `fallback` if no WebSocket can be opened and the caller should use Server-Sent Events
 * @throws PerdureError if the server rejects the subscription permanently
 */
export async function* followOverSocket(
  hub: SocketHub,
  { subject, gate, onSubscribed, signal, bufferSize, canFallBack, pastEnd }: SocketFollowRequest,
): AsyncGenerator<SubscriptionItem, 'ended' | 'fallback', void> {
  const buffer = createItemBuffer<SubscriptionItem>(bufferSize)
  let isPaused = false
  let hasFallenBack = false

  const put = (item: SubscriptionItem) => {
    buffer.push(item)
    if (item.type === 'event' && isLastEvent(subject, item.event)) return buffer.end()
    if (!buffer.isFull()) return
    isPaused = true
    hub.detach(follower)
  }

  const follower: SocketFollower = {
    subject,
    cursor: gate.cursor,
    onSubscribed(headEventId) {
      // A run subscription without a cursor starts at the run's first event, so it must not skip to the head.
      if (gate.cursor() === undefined && !isRunSubject(subject)) gate.prime(headEventId)
      onSubscribed()
    },
    onEvent(event) {
      if (gate.admits(event.eventId)) put({ type: 'event', event })
    },
    onGap(gap) {
      if (gate.admitsGap(gap.lastEventId)) put({ type: 'gap', subject, ...gap })
    },
    onRefused: (error) => buffer.end(error),
    fallBack() {
      if (!canFallBack) return false
      hasFallenBack = true
      buffer.end()
      return true
    },
  }

  const end = () => buffer.end()
  signal.addEventListener('abort', end)
  pastEnd.addEventListener('abort', end)
  if (signal.aborted || pastEnd.aborted) end()
  else hub.attach(follower)
  try {
    for (;;) {
      const item = await buffer.take()
      if (item === undefined || signal.aborted) return hasFallenBack ? 'fallback' : 'ended'
      yield item
      if (isPaused && buffer.size() <= bufferSize / 2) {
        isPaused = false
        hub.attach(follower)
      }
    }
  } finally {
    hub.detach(follower)
    signal.removeEventListener('abort', end)
    pastEnd.removeEventListener('abort', end)
  }
}
