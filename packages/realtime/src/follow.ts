import type { DeliveredEvent, EventFeed, EventSource } from '@perdure/core'

export interface FollowOptions {
  /** Exclusive position to start from. */
  readonly after: number
  /** Whether nothing will be appended any more: the iteration then ends with the log instead of waiting. */
  readonly isComplete: boolean
  /** Ends the iteration, also while it waits. */
  readonly signal: AbortSignal
}

const PAGE_LIMIT = 200

/**
 * Every event of a source after a position, in order, each once: first what the log holds, then what is appended. Comes
 * in pages, none of them empty, and reads only as fast as it is iterated.
 */
export async function* followEvents(
  feed: EventFeed,
  source: EventSource,
  { after, isComplete, signal }: FollowOptions,
): AsyncGenerator<readonly DeliveredEvent[], void, void> {
  const bell = createBell()
  // Whoever says that all is written has seen a commit that need not be published yet.
  const read = isComplete ? feed.readLog : feed.read
  const watcher = { wake: bell.ring }
  feed.watch(source, watcher)
  signal.addEventListener('abort', bell.ring)
  try {
    let position = after
    while (!signal.aborted) {
      // Silenced before the read: what is appended during the read rings again and is not missed.
      bell.silence()
      const { events, hasMore } = await read(source, { after: position, limit: PAGE_LIMIT })
      const newest = events.at(-1)
      if (newest !== undefined && !signal.aborted) yield events
      position = newest?.position ?? position
      if (hasMore) continue
      if (isComplete) return
      await bell.rung()
    }
  } finally {
    feed.unwatch(source, watcher)
    signal.removeEventListener('abort', bell.ring)
  }
}

interface Bell {
  ring(): void
  silence(): void
  /** Resolves once it has been rung since it was last silenced. */
  rung(): Promise<void>
}

function createBell(): Bell {
  let isRung = false
  let notify: (() => void) | undefined
  return {
    ring() {
      isRung = true
      notify?.()
    },
    silence() {
      isRung = false
    },
    async rung() {
      if (isRung) return
      await new Promise<void>((resolve) => {
        notify = resolve
      })
    },
  }
}
