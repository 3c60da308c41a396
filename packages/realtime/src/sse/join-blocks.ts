import { type BlockSource, ENDED, WAITING } from './block-source.ts'

export interface Framing {
  /** The blocks before those of the sources. */
  readonly opening: string
  /** The blocks after every source has ended. */
  readonly closing: string
}

/** Joins sources into one, whose blocks come in the order in which they become ready. Each source has its turn. */
export function joinBlocks(sources: readonly BlockSource[], { opening, closing }: Framing): BlockSource {
  const open = new Set(sources)
  let hasBegun = false
  let hasEnded = false

  return {
    async next() {
      if (!hasBegun) {
        hasBegun = true
        return opening
      }
      for (const source of open) {
        const blocks = await source.next()
        if (blocks === WAITING) continue
        open.delete(source)
        if (blocks === ENDED) continue
        open.add(source)
        return blocks
      }
      if (open.size > 0) return WAITING
      if (hasEnded) return ENDED
      hasEnded = true
      return closing
    },
    close() {
      for (const source of sources) source.close()
    },
  }
}
