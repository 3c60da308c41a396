import type { EventEnvelope } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Transport } from './client-options.ts'
import { RUN_ENDING_EVENTS } from './protocol-tables.ts'

export type Event = InferOutput<typeof EventEnvelope>

/** Events between `lastEventId` and `firstAvailable` are missing; `null` means that no event is available. */
export interface Gap {
  readonly type: 'gap'
  readonly subject: string
  readonly firstAvailable: string | null
  readonly lastEventId: string
}

/** A subscription yields each event once, in order, and a gap wherever events are missing. */
export type SubscriptionItem = { readonly type: 'event'; readonly event: Event } | Gap

export interface SubscribeOptions {
  /** Resume after this event. If omitted, a run starts at its first event and any other subject starts now. */
  readonly lastEventId?: string | undefined
  /**
   * Called once, when the server has begun to follow the subject. Read a list in it rather than before it: a change
   * between such a read and the begin of the subscription has no event.
   */
  readonly onSubscribed?: (() => void) | undefined
  /** Ends the subscription. */
  readonly signal?: AbortSignal | undefined
  /** Default: the transport of the client. */
  readonly transport?: Transport | undefined
  /** Maximum items buffered for a slow consumer; the server keeps the rest. Default 1,000. */
  readonly bufferSize?: number | undefined
}

/**
 * Can be iterated once. Ends after the last event of its run, on `close()`, when its signal is aborted, or when you
 * leave the loop. A lost connection does not end the subscription: it reconnects and resumes.
 */
export interface Subscription extends AsyncIterable<SubscriptionItem> {
  readonly subject: string
  /** Id of the last event yielded. Pass it as `lastEventId` to resume later. */
  readonly lastEventId: string | undefined
  close(): void
}

export const isRunSubject = (subject: string): boolean => subject.includes('/runs/')

export const isLastEvent = (subject: string, event: Event): boolean =>
  isRunSubject(subject) && RUN_ENDING_EVENTS.includes(event.type)
