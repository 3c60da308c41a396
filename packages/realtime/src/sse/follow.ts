import type { DeliveredEvent, EventFeed, EventSource, FeedPage } from '@perdure/core'
import { ENDED, WAITING } from './block-source.ts'

export interface FollowOptions {
  /** Exclusive position to start from. */
  readonly after: number
  /** Whether the log is complete. The follower then ends at the end of the log instead of waiting for more events. */
  readonly isComplete: boolean
  /** Called after each publication to the source. */
  readonly wake: () => void
}

/** Reads every event of a source after a position, once and in order. Reads only as fast as its caller asks. */
export interface Follower {
  /**
   * The next page, which has at least one event. Synchronous when the events are in memory. Must not be called again
   * before a promise that it returned has settled.
   */
  next(): Step | Promise<Step>
  /** Stops watching the source. */
  close(): void
}

type Step = readonly DeliveredEvent[] | typeof WAITING | typeof ENDED

const PAGE_LIMIT = 200

/** Reads first the events in the log, then new events as they are appended. */
export function createFollower(
  feed: EventFeed,
  source: EventSource,
  { after, isComplete, wake }: FollowOptions,
): Follower {
  // The last commit may not be published to the feed yet, so a complete log is read from storage.
  const read = isComplete ? feed.readLog : feed.read
  let position = after
  let mayHaveMore = true
  const watcher = {
    wake() {
      mayHaveMore = true
      wake()
    },
  }
  feed.watch(source, watcher)

  const take = ({ events, hasMore }: FeedPage): readonly DeliveredEvent[] | undefined => {
    if (hasMore) mayHaveMore = true
    const newest = events.at(-1)
    if (newest === undefined) return undefined
    position = newest.position
    return events
  }

  const next = (): Step | Promise<Step> => {
    while (mayHaveMore) {
      // Reset before the read, so that an event appended during the read is not missed.
      mayHaveMore = false
      const page = read(source, { after: position, limit: PAGE_LIMIT })
      if (page instanceof Promise) return page.then((one) => take(one) ?? next())
      const events = take(page)
      if (events !== undefined) return events
    }
    return isComplete ? ENDED : WAITING
  }

  return { next, close: () => feed.unwatch(source, watcher) }
}
