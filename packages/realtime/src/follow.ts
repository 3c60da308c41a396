import type { EventHub } from '@berth/core'
import type { EventLog, EventStream, StoredEvent } from '@berth/ports'

export interface FollowDeps {
  readonly events: EventLog
  readonly hub: EventHub
}

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
 * Every event of a stream after a position, in order, each once: first what the log holds, then what is appended. Reads
 * only as fast as it is iterated.
 */
export async function* followEvents(
  { events, hub }: FollowDeps,
  stream: EventStream,
  { after, isComplete, signal }: FollowOptions,
): AsyncGenerator<StoredEvent, void, void> {
  const bell = createBell()
  const unwatch = hub.watch(stream, bell.ring)
  signal.addEventListener('abort', bell.ring)
  try {
    let position = after
    while (!signal.aborted) {
      // Silenced before the read: what is appended during the read rings again and is not missed.
      bell.silence()
      const page = await events.read(stream, { after: position, limit: PAGE_LIMIT })
      for (const event of page) {
        if (signal.aborted) return
        yield event
        position = event.position
      }
      if (page.length === PAGE_LIMIT) continue
      if (isComplete) return
      await bell.rung()
    }
  } finally {
    unwatch()
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
