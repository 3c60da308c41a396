import type { DeliveredEvent, EventSource, FeedPage } from '@perdure/core'
import { endsStream } from '../ends-stream.ts'

/** Encoded frames of consecutive events. */
export interface FrameBlock {
  readonly bytes: Uint8Array
  /** Position of the block's last event. */
  readonly through: number
  /** Whether the block's last event ends the stream. */
  readonly isLast: boolean
}

/** The recipient-specific part of a frame. */
export interface FrameRecipient {
  readonly id: string
  readonly source: EventSource
}

/** Encodes a page into frames, once for all subscriptions with the same id. */
export type FramesOf = (page: FeedPage, addressee: FrameRecipient) => readonly FrameBlock[]

/** Maximum encodings cached per page. Most clients have few subscriptions, so few ids are in use. */
const MAX_VARIANTS = 4
/** Small enough that a slow client buffers little, large enough that a page needs only a few writes. */
const BLOCK_BYTES = 16_384

export function createFramesOf(): FramesOf {
  const framed = new WeakMap<FeedPage, Map<string, readonly FrameBlock[]>>()

  return (page, addressee) => {
    const known = framed.get(page)?.get(addressee.id)
    if (known !== undefined) return known
    const blocks = toBlocks(page.events, addressee)
    const forms = framed.get(page)
    if (forms === undefined) framed.set(page, new Map([[addressee.id, blocks]]))
    else if (forms.size < MAX_VARIANTS) forms.set(addressee.id, blocks)
    return blocks
  }
}

function toBlocks(events: readonly DeliveredEvent[], { id, source }: FrameRecipient): readonly FrameBlock[] {
  const head = `{"v":"1","kind":"event","subscriptionId":${JSON.stringify(id)},`
  const blocks: FrameBlock[] = []
  let frames: Buffer[] = []
  let size = 0
  for (const [index, { envelope, position, type }] of events.entries()) {
    const frame = toFrame(head + envelope.slice(1))
    frames.push(frame)
    size += frame.length
    const isLast = endsStream(source.stream, type)
    if (size < BLOCK_BYTES && !isLast && index < events.length - 1) continue
    blocks.push({ bytes: Buffer.concat(frames, size), through: position, isLast })
    if (isLast) break
    frames = []
    size = 0
  }
  return blocks
}

const TEXT_IN_ONE_FRAME = 0x81
const SHORT = 126
const MEDIUM = 65_536

/** Encodes an unmasked text message in a single frame (RFC 6455, section 5.2). */
function toFrame(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const start = length < SHORT ? 2 : length < MEDIUM ? 4 : 10
  const frame = Buffer.allocUnsafe(start + length)
  frame[0] = TEXT_IN_ONE_FRAME
  if (length < SHORT) frame[1] = length
  else if (length < MEDIUM) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.write(text, start)
  return frame
}
