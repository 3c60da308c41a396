import { createRecentChunks, type RecentChunks, type RenderedChunk } from './recent-chunks.ts'

/** One reader of a stream among those who get the same text. */
export interface ChunkSeat extends Pick<RecentChunks<RenderedChunk>, 'find' | 'keep'> {
  /** Whether there are other readers. */
  hasOthers(): boolean
  leave(): void
}

/** Renders the events of a stream once for all readers that are at the same event. */
export interface SharedChunks {
  /** @param key names everything that the text depends on, except the events */
  enter(key: string): ChunkSeat
}

export function createSharedChunks(): SharedChunks {
  const byKey = new Map<string, { seats: number; readonly recent: RecentChunks<RenderedChunk> }>()

  return {
    enter(key) {
      const shared = byKey.get(key) ?? { seats: 0, recent: createRecentChunks() }
      byKey.set(key, shared)
      shared.seats += 1
      return {
        ...shared.recent,
        hasOthers: () => shared.seats > 1,
        leave() {
          shared.seats -= 1
          if (shared.seats < 2) shared.recent.clear()
          if (shared.seats === 0) byKey.delete(key)
        },
      }
    },
  }
}
