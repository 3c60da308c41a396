import { endOfPart, type Logger, type TextSink, type TextStream, type Timers } from '@perdure/ports'
import { createDeadline } from '../deadline.ts'
import { HEARTBEAT } from './block.ts'
import { type BlockSource, ENDED, type NextBlocks, WAITING } from './block-source.ts'

export interface BlockStreamDeps {
  readonly timers: Timers
  readonly heartbeatMs: number
  /** A client that reads nothing for this long while blocks are waiting is disconnected. */
  readonly stallMs: number
  readonly logger: Logger
}

export interface BlockStreamOptions {
  /** Opens the source. The source calls `wake` when blocks may be ready after it had none. */
  readonly open: (wake: () => void) => BlockSource
  /** Called once when the stream has ended for any reason. */
  readonly onEnd: () => void
}

export interface BlockStream extends TextStream {
  /** Ends the stream after the block that has begun. */
  end(): void
}

/** Longer items are passed on in parts, so that the buffer of the sink and the stream hold one item together, not one each. */
const PART_LENGTH = 65_536

/**
 * Writes the blocks of a source into a sink. Takes the next blocks only when the sink has room, so that a slow client
 * costs at most one buffer. Disconnects a client that stops reading, and sends heartbeats while there are no blocks.
 */
export function createBlockStream(deps: BlockStreamDeps, { open, onEnd }: BlockStreamOptions): BlockStream {
  const { timers, heartbeatMs, stallMs, logger } = deps
  let isOpen = true
  /** Whether the source is reading blocks. */
  let isReading = false
  /** Whether the source has called `wake` since it was last asked. */
  let isWoken = false
  /** Blocks that were taken from the source and not yet written. */
  let rest = ''
  /** Missing until the answer is sent: the stream has room for the first blocks only. */
  let sink: TextSink | undefined
  let cancelHeartbeat = () => {}

  const finish = () => {
    if (!isOpen) return
    isOpen = false
    cancelHeartbeat()
    stall.clear()
    source.close()
    onEnd()
  }
  const end = () => {
    if (!isOpen) return
    finish()
    if (sink !== undefined) endSink(sink)
  }
  const endSink = (to: TextSink) => {
    if (rest !== '') to.write(rest)
    rest = ''
    to.end()
  }
  const fail = (error: unknown) => {
    logger.error('event stream failed', error)
    end()
  }

  const stall = createDeadline(timers, stallMs, () => {
    finish()
    sink?.fail(new Error('the client stopped reading'))
  })

  const write = (to: TextSink, text: string) => {
    to.write(text)
    // The sink may have asked for more at once, and the stream can have ended meanwhile.
    if (isOpen && !to.hasRoom()) stall.start()
  }

  const writePart = (to: TextSink) => {
    const part = rest.length > PART_LENGTH ? rest.slice(0, endOfPart(rest, PART_LENGTH)) : rest
    rest = rest.slice(part.length)
    write(to, part)
  }

  /** Returns whether there may be more blocks. */
  const take = (blocks: NextBlocks): boolean => {
    if (blocks === WAITING) return isWoken
    if (blocks === ENDED) end()
    else rest = blocks
    return isOpen
  }

  const takeLater = (blocks: NextBlocks) => {
    isReading = false
    if (isOpen && take(blocks)) pump()
  }

  /** Returns whether there may be more blocks now. */
  const takeNext = (): boolean => {
    isWoken = false
    const blocks = source.next()
    if (!(blocks instanceof Promise)) return take(blocks)
    isReading = true
    blocks.then(takeLater).catch(fail)
    return false
  }

  const hasRoom = () => (sink === undefined ? rest === '' : sink.hasRoom())

  const pump = () => {
    try {
      while (isOpen && !isReading && hasRoom()) {
        if (sink !== undefined && rest !== '') writePart(sink)
        else if (!takeNext()) return
      }
    } catch (error) {
      fail(error)
    }
  }

  const beat = () => {
    cancelHeartbeat = timers.after(heartbeatMs, beat)
    // Not inside a block.
    if (rest === '' && sink?.hasRoom() === true) write(sink, HEARTBEAT)
  }
  cancelHeartbeat = timers.after(heartbeatMs, beat)

  const source = open(() => {
    isWoken = true
    pump()
  })
  pump()

  return {
    pipeTo(to) {
      if (!isOpen) return endSink(to)
      sink = to
      to.onDrain(() => {
        stall.clear()
        pump()
      })
      pump()
    },
    cancel: finish,
    end,
  }
}
