import type { ConnectionChange, PerdureClient, SubscriptionItem } from '@perdure/client'
import type { Event } from '../client/resources.ts'
import { createStore, type Store } from '../client/store.ts'
import { closeMessage } from './close-message.ts'

/**
 * How current the page is. `polling`: the server answers requests, but no WebSocket can be opened. `periodic`: the session
 * may not follow the events of the whole server. Lists are read again every 10 seconds in both cases.
 */
export type Liveness = 'connecting' | 'live' | 'resuming' | 'polling' | 'periodic' | 'offline' | 'refused'

export interface LiveFeed {
  readonly liveness: Store<Liveness>
  readonly lastEventId: Store<string | undefined>
  /** Why the server has closed the connection; `undefined` while it is open. */
  readonly reason: Store<string | undefined>
  /** Follows the subjects of the whole server. Further calls replace the subjects. */
  follow(subjects: readonly string[]): void
  /** Calls the listener for every event, and `onGap` when events may be missing, as before a subject was followed. */
  listen(onEvent: (event: Event) => void, onGap?: () => void): () => void
  onConnection(change: ConnectionChange): void
  onAnswered(): void
  /** A request has received no answer, or a proxy has not reached the server. */
  onUnreachable(): void
}

interface Listener {
  readonly onEvent: (event: Event) => void
  readonly onGap: (() => void) | undefined
}

const OFFLINE_AFTER_FAILURES = 2
const POLL_MS = 10_000

/** The events of the whole server, over the one WebSocket of the page. */
export function createLiveFeed(clientOf: () => PerdureClient): LiveFeed {
  const liveness = createStore<Liveness>('connecting')
  const lastEventId = createStore<string | undefined>(undefined)
  const reason = createStore<string | undefined>(undefined)
  const listeners = new Set<Listener>()
  const followed = new Map<string, AbortController>()
  let failures = 0
  let wasLive = false
  let isAnswered = false
  let hasSubjects = true
  let polling: ReturnType<typeof setInterval> | undefined

  const show = (next: Liveness) => {
    liveness.set(next)
    if (next !== 'polling' && hasSubjects) {
      clearInterval(polling)
      polling = undefined
      return
    }
    polling ??= setInterval(() => {
      if (document.visibilityState === 'visible') onGap()
    }, POLL_MS)
  }

  const deliver = (item: SubscriptionItem) => {
    if (item.type === 'event') lastEventId.set(item.event.eventId)
    for (const { onEvent, onGap } of listeners) {
      if (item.type === 'event') onEvent(item.event)
      else onGap?.()
    }
  }

  const onGap = () => {
    for (const listener of listeners) listener.onGap?.()
  }

  const read = async (subject: string, { signal }: AbortController) => {
    try {
      for await (const item of clientOf().subscribe(subject, { signal, onSubscribed: onGap })) deliver(item)
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
      hasSubjects = subjects.length > 0
      const before = liveness.get()
      show(!hasSubjects ? 'periodic' : before === 'periodic' ? 'connecting' : before)
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
      const next = livenessAfter(change, { failures, isAnswered, hasSubjects })
      // While a page waits for the next attempt, it keeps the words of the last one.
      if (change.state !== 'connecting' || !wasLive) show(next)
      // The attempt that follows begins with a request for a ticket.
      if (change.state === 'closed') isAnswered = false
    },
    onAnswered() {
      isAnswered = true
    },
    onUnreachable() {
      isAnswered = false
      if (liveness.get() !== 'live') show('offline')
    },
  }
}

interface Following {
  readonly failures: number
  readonly isAnswered: boolean
  readonly hasSubjects: boolean
}

function livenessAfter(change: ConnectionChange, { failures, isAnswered, hasSubjects }: Following): Liveness {
  const isFailing = failures > OFFLINE_AFTER_FAILURES
  const isPolling = isFailing && isAnswered
  if (change.state === 'open') return 'live'
  if (change.state === 'connecting') return isPolling ? 'polling' : isFailing ? 'offline' : 'connecting'
  // The client tries once more with a new ticket, and then gives up.
  if (change.retryInMs === undefined && closeMessage(change.code) !== undefined) return 'refused'
  if (change.retryInMs === undefined && !hasSubjects) return 'periodic'
  return isPolling ? 'polling' : isFailing ? 'offline' : 'resuming'
}
