import type { ConnectionChange, PerdureClient, SubscriptionItem } from '@perdure/client'
import type { Event } from '../client/resources.ts'
import { createStore, type Store } from '../client/store.ts'
import { closeMessage } from './close-message.ts'

/**
 * How current the page is. `live`: the server has answered every subscription. `polling`: the server answers requests,
 * but no WebSocket can be opened. `periodic`: the session may not follow the events of the whole server. Lists are read
 * again every 10 seconds in the last two cases.
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

/**
 * The events of the whole server, over the one WebSocket of the page.
 *
 * @param isVisible whether the page is on the screen; a hidden page does not poll
 */
export function createLiveFeed(clientOf: () => PerdureClient, isVisible: () => boolean): LiveFeed {
  const liveness = createStore<Liveness>('connecting')
  const lastEventId = createStore<string | undefined>(undefined)
  const reason = createStore<string | undefined>(undefined)
  const listeners = new Set<Listener>()
  const followed = new Map<string, AbortController>()
  /** The subjects whose events may still be missed, because the server has not answered the subscription. */
  const unanswered = new Set<string>()
  let isOpen = false
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
      if (isVisible()) onGap()
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

  const settle = (subject: string) => {
    const isLast = unanswered.delete(subject) && unanswered.size === 0
    if (isLast && isOpen) show('live')
  }

  const read = async (subject: string, { signal }: AbortController) => {
    const onSubscribed = () => {
      settle(subject)
      onGap()
    }
    try {
      for await (const item of clientOf().subscribe(subject, { signal, onSubscribed })) deliver(item)
    } catch {
      if (signal.aborted) return
      followed.delete(subject)
      settle(subject)
    }
  }

  const follow = (subject: string) => {
    const controller = new AbortController()
    followed.set(subject, controller)
    unanswered.add(subject)
    void read(subject, controller)
  }

  const unfollow = (subject: string) => {
    followed.get(subject)?.abort()
    followed.delete(subject)
    settle(subject)
  }

  const livenessOfSubjects = (): Liveness => {
    if (!hasSubjects) return 'periodic'
    const before = liveness.get()
    if (before === 'periodic') return 'connecting'
    return before === 'live' && unanswered.size > 0 ? 'connecting' : before
  }

  const showChange = ({ state }: ConnectionChange, next: Liveness) => {
    // While a page waits for the next attempt, it keeps the words of the last one.
    if (state === 'connecting' && wasLive) return
    show(state === 'open' && unanswered.size > 0 ? 'connecting' : next)
  }

  return {
    liveness,
    lastEventId,
    reason,
    follow(subjects) {
      for (const subject of [...followed.keys()]) if (!subjects.includes(subject)) unfollow(subject)
      for (const subject of subjects) if (!followed.has(subject)) follow(subject)
      hasSubjects = subjects.length > 0
      show(livenessOfSubjects())
    },
    listen(onEvent, onGap) {
      const listener = { onEvent, onGap }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onConnection(change) {
      isOpen = change.state === 'open'
      wasLive ||= isOpen
      if (isOpen) failures = 0
      if (isOpen) reason.set(undefined)
      if (change.state === 'closed') failures += 1
      if (change.state === 'closed') reason.set(closeMessage(change.code))
      const next = livenessAfter(change, { failures, isAnswered, hasSubjects })
      showChange(change, next)
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
