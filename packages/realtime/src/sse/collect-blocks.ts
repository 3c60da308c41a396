import { type BlockSource, ENDED, WAITING } from './block-source.ts'

export interface BlockCollector {
  /** The blocks up to the end of the source, or up to `end`. */
  readonly text: Promise<string>
  readonly end: () => void
}

export interface CollectOptions {
  /** Opens the source. The source calls `wake` when blocks may be ready after it had none. */
  readonly open: (wake: () => void) => BlockSource
  /** Called once when the source has ended for any reason. */
  readonly onEnd: () => void
}

/** Reads a source into one text, for an answer that is sent as a whole. */
export function collectBlocks({ open, onEnd }: CollectOptions): BlockCollector {
  let isOpen = true
  /** Whether the source has called `wake` since it was last asked. */
  let isWoken = false
  let resume = () => {}
  const wake = () => {
    isWoken = true
    resume()
  }
  const source = open(wake)

  const collect = async (): Promise<string> => {
    let text = ''
    try {
      while (isOpen) {
        isWoken = false
        const blocks = await source.next()
        if (blocks === ENDED) break
        if (blocks !== WAITING) text += blocks
        else if (!isWoken) await new Promise<void>((resolve) => (resume = resolve))
      }
      return text
    } finally {
      source.close()
      onEnd()
    }
  }

  return {
    text: collect(),
    end() {
      isOpen = false
      wake()
    },
  }
}
