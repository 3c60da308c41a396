import type { Timers } from '@perdure/ports'
import { formatBlock } from './block.ts'
import { type BlockSource, ENDED, type NextBlocks, WAITING } from './block-source.ts'
import type { ProjectedFrame } from './run-projector.ts'

/** The frames that end a stream after some time. */
export interface ClosingFrames {
  readonly afterMs: number
  frames(): readonly ProjectedFrame[]
}

/** Ends the source with the closing frames unless it has ended by itself before. */
export function closeAfter(
  timers: Timers,
  source: BlockSource,
  { afterMs, frames, wake }: ClosingFrames & { readonly wake: () => void },
): BlockSource {
  let isDue = false
  let isClosed = false
  const cancel = timers.after(afterMs, () => {
    isDue = true
    wake()
  })

  /** The events that exist already are shown first: the closing frames can depend on them. */
  const closeIfWaiting = (blocks: NextBlocks): NextBlocks => {
    if (!isDue || blocks !== WAITING) return blocks
    isClosed = true
    return frames().map(formatBlock).join('')
  }

  return {
    next() {
      if (isClosed) return ENDED
      const blocks = source.next()
      return blocks instanceof Promise ? blocks.then(closeIfWaiting) : closeIfWaiting(blocks)
    },
    close() {
      cancel()
      source.close()
    },
  }
}
