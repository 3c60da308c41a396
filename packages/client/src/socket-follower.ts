import { createItemBuffer } from './item-buffer.ts'
import type { SocketHub } from './socket-hub.ts'
import type { SocketFollower } from './socket-routes.ts'
import type { Following } from './sse-follower.ts'
import { isLastEvent, isOfOneRun, type SubscriptionItem } from './subscription.ts'

export interface SocketFollowing extends Following {
  /** Items that wait at most before the server is told to stop. */
  readonly bufferSize: number
  /** Whether the subject can be followed in another way. */
  readonly canLeave: boolean
  /** Aborted when it turns out that nothing more will come. */
  readonly pastEnd: AbortSignal
}

/**
 * Follows a subject over the shared WebSocket. A browser's socket cannot be paused: a subscription whose buffer is full is
 * given up, and taken up at its cursor once half of the buffer is handed out.
 *
 * @returns `moved` when no WebSocket can be had and the subject is to be followed in another way
 * @throws PerdureError when the server refuses for good
 */
export async function* followOverSocket(
  hub: SocketHub,
  { subject, gate, signal, bufferSize, canLeave, pastEnd }: SocketFollowing,
): AsyncGenerator<SubscriptionItem, 'ended' | 'moved', void> {
  const buffer = createItemBuffer<SubscriptionItem>(bufferSize)
  let isPaused = false
  let hasMoved = false

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
      // A run without a cursor starts at its first event, which lies before the head.
      if (gate.cursor() === undefined && !isOfOneRun(subject)) gate.prime(headEventId)
    },
    onEvent(event) {
      if (gate.admits(event.eventId)) put({ type: 'event', event })
    },
    onGap(gap) {
      if (gate.admitsGap(gap.lastEventId)) put({ type: 'gap', subject, ...gap })
    },
    onRefused: (error) => buffer.end(error),
    leaves() {
      if (!canLeave) return false
      hasMoved = true
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
      if (item === undefined || signal.aborted) return hasMoved ? 'moved' : 'ended'
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
