import type { Logger, Timers } from '@perdure/ports'
import { type BlockSource, ENDED, type NextBlocks, WAITING } from '../block-source.ts'
import { createDeadline } from '../deadline.ts'
import { HEARTBEAT } from './block.ts'

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
  /** Disconnects a client that stops reading. If omitted, its stream fails instead. */
  readonly hangUp?: (() => void) | undefined
}

export interface BlockStream {
  readonly body: ReadableStream<Uint8Array>
  /** Ends the stream after the blocks already buffered. */
  readonly end: () => void
}

const BUFFERED_BYTES = 65_536

/** Longer items are passed on in parts, so that the connection and the buffer hold one item together, not one each. */
const PART_BYTES = 65_536

const NOTHING = Buffer.alloc(0)

/**
 * Creates the body of an event stream. Takes the next blocks only when the buffer has room, so that a slow client costs
 * at most one buffer. Disconnects a client that stops reading, and sends heartbeats while there are no blocks.
 */
export function createBlockStream(deps: BlockStreamDeps, { open, onEnd, hangUp }: BlockStreamOptions): BlockStream {
  const { timers, heartbeatMs, stallMs, logger } = deps
  let isOpen = true
  /** Whether the source is reading blocks. */
  let isReading = false
  /** Whether the source has called `wake` since it was last asked. */
  let isWoken = false
  let rest: Uint8Array = NOTHING
  let controller: ReadableStreamDefaultController<Uint8Array>
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
    if (isOpen) {
      if (rest.length > 0) controller.enqueue(rest)
      controller.close()
    }
    finish()
  }
  const fail = (error: unknown) => {
    logger.error('event stream failed', error)
    end()
  }

  const stall = createDeadline(timers, stallMs, () => {
    if (isOpen && hangUp === undefined) controller.error(new Error('the client stopped reading'))
    else if (isOpen) hangUp?.()
    finish()
  })

  const hasRoom = () => (controller.desiredSize ?? 0) > 0

  /** Returns whether there may be more blocks. */
  const take = (blocks: NextBlocks): boolean => {
    if (blocks === WAITING) return isWoken
    if (blocks === ENDED) end()
    else rest = Buffer.from(blocks)
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

  const enqueuePart = () => {
    const part = rest.subarray(0, PART_BYTES)
    rest = rest.subarray(PART_BYTES)
    controller.enqueue(part)
    // The client may have been waiting for this part: the stream then asks for the next one at once, and can end meanwhile.
    if (isOpen && !hasRoom()) stall.start()
  }

  const pump = () => {
    try {
      while (isOpen && !isReading && hasRoom()) {
        if (rest.length > 0) enqueuePart()
        else if (!takeNext()) return
      }
    } catch (error) {
      fail(error)
    }
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started
        const beat = () => {
          // Not inside a block.
          if (rest.length === 0 && hasRoom()) controller.enqueue(Buffer.from(HEARTBEAT))
          cancelHeartbeat = timers.after(heartbeatMs, beat)
        }
        cancelHeartbeat = timers.after(heartbeatMs, beat)
      },
      pull() {
        stall.clear()
        pump()
      },
      cancel: finish,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }),
  )
  const source = open(() => {
    isWoken = true
    pump()
  })

  return { body, end }
}
