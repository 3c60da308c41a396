import type { DeliveredEvent, EventFeed, EventSource } from '@perdure/core'

export interface FollowOptions {
  /** Exclusive position to start from. */
  readonly after: number
  /** Whether the log is complete. The iteration then stops at the end of the log instead of waiting for more events. */
  readonly isComplete: boolean
  /** Ends the iteration, even while it is waiting. */
  readonly signal: AbortSignal
}

const PAGE_LIMIT = 200

/**
 * Yields every event of a source after a position, once and in order: first the events in the log, then new events as
 * they are appended. Yields only non-empty pages, and reads only as fast as the caller iterates.
 */
export async function* followEvents(
  feed: EventFeed,
  source: EventSource,
  { after, isComplete, signal }: FollowOptions,
): AsyncGenerator<readonly DeliveredEvent[], void, void> {
  const appended = createSignal()
  // The last commit may not be published to the feed yet, so a complete log is read from storage.
  const read = isComplete ? feed.readLog : feed.read
  const watcher = { wake: appended.notify }
  feed.watch(source, watcher)
  signal.addEventListener('abort', appended.notify)
  try {
    let position = after
    while (!signal.aborted) {
      // Reset before the read, so that an event appended during the read is not missed.
      appended.reset()
      const { events, hasMore } = await read(source, { after: position, limit: PAGE_LIMIT })
      const newest = events.at(-1)
      if (newest !== undefined && !signal.aborted) yield events
      position = newest?.position ?? position
      if (hasMore) continue
      if (isComplete) return
      await appended.wait()
    }
  } finally {
    feed.unwatch(source, watcher)
    signal.removeEventListener('abort', appended.notify)
  }
}

interface Signal {
  notify(): void
  reset(): void
  /** Resolves once `notify` has been called since the last `reset`. */
  wait(): Promise<void>
}

function createSignal(): Signal {
  let isNotified = false
  let resolveWait: (() => void) | undefined
  return {
    notify() {
      isNotified = true
      resolveWait?.()
    },
    reset() {
      isNotified = false
    },
    async wait() {
      if (isNotified) return
      await new Promise<void>((resolve) => {
        resolveWait = resolve
      })
    },
  }
}
