import type { Logger, Timers } from '@perdure/ports'
import { createDeadline } from '../deadline.ts'
import { HEARTBEAT } from './block.ts'

export interface BlockStreamDeps {
  readonly timers: Timers
  readonly heartbeatMs: number
  /** A client that reads nothing for this long while blocks are waiting is disconnected. */
  readonly stallMs: number
  readonly logger: Logger
}

export interface BlockSource {
  /** Each item is one or more whole blocks. */
  readonly blocks: AsyncGenerator<string, void, void>
  /** Called once when the stream has ended for any reason. Must wake `blocks` if that generator is waiting. */
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

/**
 * Creates the body of an event stream. Pulls the next block only when the buffer has room, so that a slow client costs
 * at most one buffer. Disconnects a client that stops reading, and sends heartbeats while there are no blocks.
 */
export function createBlockStream(deps: BlockStreamDeps, { blocks, onEnd, hangUp }: BlockSource): BlockStream {
  const { timers, heartbeatMs, stallMs, logger } = deps
  const encoder = new TextEncoder()
  let isOpen = true
  let rest = new Uint8Array(0)
  let cancelHeartbeat = () => {}
  let close = () => {}
  let cut = () => {}

  const finish = () => {
    if (!isOpen) return
    isOpen = false
    cancelHeartbeat()
    stall.clear()
    onEnd()
    blocks.return().catch((error: unknown) => logger.error('failed to release an event stream', error))
  }
  const end = () => {
    if (isOpen) close()
    finish()
  }

  const stall = createDeadline(timers, stallMs, () => {
    if (isOpen) cut()
    finish()
  })

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        close = () => {
          if (rest.length > 0) controller.enqueue(rest)
          controller.close()
        }
        cut = hangUp ?? (() => controller.error(new Error('the client stopped reading')))
        const beat = () => {
          // Not inside a block.
          if (rest.length === 0 && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(HEARTBEAT))
          cancelHeartbeat = timers.after(heartbeatMs, beat)
        }
        cancelHeartbeat = timers.after(heartbeatMs, beat)
      },
      async pull(controller) {
        stall.clear()
        try {
          if (rest.length === 0) {
            const next = await blocks.next()
            if (next.done === true) return end()
            rest = encoder.encode(next.value)
          }
          if (isOpen) {
            const part = rest.subarray(0, PART_BYTES)
            rest = rest.subarray(PART_BYTES)
            controller.enqueue(part)
            if ((controller.desiredSize ?? 0) <= 0) stall.start()
          }
        } catch (error) {
          logger.error('event stream failed', error)
          end()
        }
      },
      cancel: finish,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }),
  )
  return { body, end }
}
