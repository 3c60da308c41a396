import type { Event } from '../client/resources.ts'

/** The newest events, up to a limit. Adding one costs the same however many there are. */
export interface EventBuffer {
  add(event: Event): void
  /** The kept events, oldest first. */
  items(): readonly Event[]
  /** Events that were removed to stay within the limit. */
  dropped(): number
  clear(): void
}

/** @param limit above it, the older half is removed at once, so that removing is rare */
export function createEventBuffer(limit: number): EventBuffer {
  let items: Event[] = []
  let dropped = 0
  return {
    add(event) {
      items.push(event)
      if (items.length <= limit) return
      const removed = items.length >> 1
      items = items.slice(removed)
      dropped += removed
    },
    items: () => items,
    dropped: () => dropped,
    clear() {
      items = []
      dropped = 0
    },
  }
}
