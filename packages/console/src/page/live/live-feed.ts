import type { ConnectionChange, PerdureClient, SubscriptionItem } from '@perdure/client'
import type { Event } from '../api/resources.ts'
import { createStore, type Store } from '../api/store.ts'
import { closeMessage } from './close-message.ts'

/** How current the page is. */
export type Liveness = 'connecting' | 'live' | 'resuming' | 'offline' | 'refused'

export interface LiveFeed {
  readonly liveness: Store<Liveness>
  readonly lastEventId: Store<string | undefined>
  /** Why the server has closed the connection; `undefined` while it is open. */
  readonly reason: Store<string | undefined>
  /** Follows the subjects of the whole server. Further calls replace the subjects. */
  follow(subjects: readonly string[]): void
  /** Calls the listener for every event, and `onGap` when events are missing. */
  listen(onEvent: (event: Event) => void, onGap?: () => void): () => void
  onConnection(change: ConnectionChange): void
  /** A request has received no answer. */
  onUnreachable(): void
  close(): void
}

interface Listener {
  readonly onEvent: (event: Event) => void
  readonly onGap: (() => void) | undefined
}

const OFFLINE_AFTER_FAILURES = 2

/** The events of the whole server, over the one WebSocket of the page. */
export function createLiveFeed(clientOf: () => PerdureClient): LiveFeed {
  const liveness = createStore<Liveness>('connecting')
  const lastEventId = createStore<string | undefined>(undefined)
  const reason = createStore<string | undefined>(undefined)
  const listeners = new Set<Listener>()
  const followed = new Map<string, AbortController>()
  let failures = 0
  let wasLive = false

  const deliver = (item: SubscriptionItem) => {
    if (item.type === 'event') lastEventId.set(item.event.eventId)
    for (const { onEvent, onGap } of listeners) {
      if (item.type === 'event') onEvent(item.event)
      else onGap?.()
    }
  }

  const read = async (subject: string, { signal }: AbortController) => {
    const subscription = clientOf().subscribe(subject, { signal })
    try {
      for await (const item of subscription) deliver(item)
    } catch {
      if (!signal.aborted) followed.delete(subject)
    }
  }

  return {
    liveness,
    lastEventId,
    reason,
    follow(subjects) {
      for (const [subject, controller] of followed) {
        if (subjects.includes(subject)) continue
        controller.abort()
        followed.delete(subject)
      }
      for (const subject of subjects) {
        if (followed.has(subject)) continue
        const controller = new AbortController()
        followed.set(subject, controller)
        void read(subject, controller)
      }
    },
    listen(onEvent, onGap) {
      const listener = { onEvent, onGap }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onConnection(change) {
      if (change.state === 'open') failures = 0
      if (change.state === 'closed') failures += 1
      if (change.state === 'open') reason.set(undefined)
      if (change.state === 'closed') reason.set(closeMessage(change.code))
      wasLive ||= change.state === 'open'
      const next = livenessAfter(change, failures)
      if (next !== undefined && (change.state !== 'connecting' || !wasLive)) liveness.set(next)
    },
    onUnreachable() {
      if (liveness.get() !== 'live') liveness.set('offline')
    },
    close() {
      for (const controller of followed.values()) controller.abort()
      followed.clear()
    },
  }
}

function livenessAfter(change: ConnectionChange, failures: number): Liveness | undefined {
  const isOffline = failures > OFFLINE_AFTER_FAILURES
  if (change.state === 'open') return 'live'
  if (change.state === 'connecting') return isOffline ? 'offline' : 'connecting'
  // The client tries once more with a new ticket, and then gives up.
  if (change.retryInMs === undefined && closeMessage(change.code) !== undefined) return 'refused'
  return isOffline ? 'offline' : 'resuming'
}
