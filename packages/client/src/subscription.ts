import type { EventEnvelope } from '@perdure/protocol'
import type { InferOutput } from 'valibot'

export type Event = InferOutput<typeof EventEnvelope>

/** Events between `lastEventId` and `firstAvailable` are no longer there; with `null` there are none at all yet. */
export interface Gap {
  readonly type: 'gap'
  readonly subject: string
  readonly firstAvailable: string | null
  readonly lastEventId: string
}

/** What a subscription gives: events in their order, each once, and a gap wherever some are missing. */
export type SubscriptionItem = { readonly type: 'event'; readonly event: Event } | Gap

export interface SubscribeOptions {
  /** The last event that was seen before; without it a run starts at its first event, anything else now. */
  readonly lastEventId?: string | undefined
  /** Ends the subscription. */
  readonly signal?: AbortSignal | undefined
  /** `auto`: WebSocket, and Server-Sent Events where none can be opened and the subject has such a stream. */
  readonly transport?: 'auto' | 'websocket' | 'sse' | undefined
  /** Items that wait for a slow consumer at most; then the server keeps the rest. 1,000 without it. */
  readonly bufferSize?: number | undefined
}

/**
 * Iterated once. It ends by itself after the event that ends its run, by `close`, by its signal, or by leaving the loop.
 * A lost connection does not end it: it resumes where it was.
 */
export interface Subscription extends AsyncIterable<SubscriptionItem> {
  readonly subject: string
  /** The cursor of what was handed out so far: give it as `lastEventId` to go on later. */
  readonly lastEventId: string | undefined
  close(): void
}

/** The events after which nothing follows on the subject of one run. */
const LAST_EVENTS: readonly string[] = ['run.completed', 'run.failed', 'run.aborted'] satisfies `run.${string}`[]

export const isOfOneRun = (subject: string): boolean => subject.includes('/runs/')

export const isLastEvent = (subject: string, event: Event): boolean =>
  isOfOneRun(subject) && LAST_EVENTS.includes(event.type)
