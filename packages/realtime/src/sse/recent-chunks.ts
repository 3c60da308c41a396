import type { DeliveredEvent } from '@perdure/core'

/** Consecutive events of a stream, rendered for every reader that is at its first event. */
export interface RenderedChunk {
  /** Positions of the first and the last event. */
  readonly first: number
  readonly last: number
  /** Number of events. */
  readonly count: number
  /** What the reader gets, in order. */
  readonly texts: readonly string[]
}

/** What a reader of the page got for the events from `start` up to `end`. */
export const chunkOf = (
  page: readonly DeliveredEvent[],
  { start, end, texts }: { readonly start: number; readonly end: number; readonly texts: readonly string[] },
): RenderedChunk => ({
  ...{ first: page[start]?.position ?? 0, last: page[end - 1]?.position ?? 0 },
  ...{ count: end - start, texts },
})

/** The chunks that the newest readers of one stream got. */
export interface RecentChunks<Chunk extends RenderedChunk> {
  /** A chunk of the events of the page, from the event with this index. */
  find(page: readonly DeliveredEvent[], start: number): Chunk | undefined
  keep(chunk: Chunk): void
  clear(): void
}

/** Characters. */
const MAX_LENGTH = 131_072
const MAX_CHUNKS = 16

export function createRecentChunks<Chunk extends RenderedChunk>(): RecentChunks<Chunk> {
  /** Newest last. */
  let chunks: Chunk[] = []
  let length = 0

  return {
    find(page, start) {
      const first = page[start]?.position
      // Nothing is ever added between two events of a stream, so the count tells whether one has been deleted.
      return chunks.findLast((chunk) => chunk.first === first && page[start + chunk.count - 1]?.position === chunk.last)
    },
    keep(chunk) {
      chunks.push(chunk)
      length += lengthOf(chunk)
      while (chunks.length > 1 && (length > MAX_LENGTH || chunks.length > MAX_CHUNKS)) {
        const [oldest] = chunks.splice(0, 1)
        if (oldest !== undefined) length -= lengthOf(oldest)
      }
    },
    clear() {
      if (length === 0) return
      chunks = []
      length = 0
    },
  }
}

const lengthOf = ({ texts }: RenderedChunk): number => texts.reduce((sum, text) => sum + text.length, 0)
