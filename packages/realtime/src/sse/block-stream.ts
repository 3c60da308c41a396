import type { Logger, Timers } from '@perdure/ports'
import { createDeadline } from '../deadline.ts'
import { HEARTBEAT } from './block.ts'

export interface BlockStreamDeps {
  readonly timers: Timers
  readonly heartbeatMs: number
  /** How long a reader may take nothing while blocks wait for it; then the stream is cut off. */
  readonly stallMs: number
  readonly logger: Logger
}

export interface BlockSource {
  /** One block or several in a row at a time. */
  readonly blocks: AsyncGenerator<string, void, void>
  /** Called once, when the stream has ended for whatever reason. Must wake `blocks` if they wait. */
  readonly onEnd: () => void
  /** Cuts off a reader that takes nothing; without it, its stream fails. */
  readonly hangUp?: (() => void) | undefined
}

export interface BlockStream {
  readonly body: ReadableStream<Uint8Array>
  /** Ends the stream after the blocks that are already in it. */
  readonly end: () => void
}

const BUFFERED_BYTES = 65_536

/**
 * Bytes of an event stream. Takes the next block only when its reader has room, so that a slow reader holds one buffer;
 * one that takes nothing is cut off. Sends heartbeats while it waits.
 */
export function createBlockStream(deps: BlockStreamDeps, { blocks, onEnd, hangUp }: BlockSource): BlockStream {
  const { timers, heartbeatMs, stallMs, logger } = deps
  const encoder = new TextEncoder()
  let isOpen = true
  let cancelHeartbeat = () => {}
  let close = () => {}
  let cut = () => {}

  const finish = () => {
    if (!isOpen) return
    isOpen = false
    cancelHeartbeat()
    stall.clear()
    onEnd()
    blocks.return().catch((error: unknown) => logger.error('event stream not released', error))
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
        close = () => controller.close()
        cut = hangUp ?? (() => controller.error(new Error('the reader took nothing for too long')))
        const beat = () => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(HEARTBEAT))
          cancelHeartbeat = timers.after(heartbeatMs, beat)
        }
        cancelHeartbeat = timers.after(heartbeatMs, beat)
      },
      async pull(controller) {
        stall.clear()
        try {
          const next = await blocks.next()
          if (next.done === true) end()
          else if (isOpen) {
            controller.enqueue(encoder.encode(next.value))
            if ((controller.desiredSize ?? 0) <= 0) stall.start()
          }
        } catch (error) {
          logger.error('event stream broken off', error)
          end()
        }
      },
      cancel: finish,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }),
  )
  return { body, end }
}
