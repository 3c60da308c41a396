import type { DeliveredEvent, EventSource, FeedPage } from '@perdure/core'
import { endsStream } from '../ends-stream.ts'

/** Frames in a row, ready for the wire, of events in a row. */
export interface FrameBlock {
  readonly bytes: Uint8Array
  /** Position of its last event. */
  readonly through: number
  /** Nothing comes after it: its last event ends what is followed. */
  readonly isLast: boolean
}

/** Whom the frames are for: what stands in them beside the envelope. */
export interface Addressee {
  readonly id: string
  readonly source: EventSource
}

/** The frames of a page, made once for all subscriptions of one id that read it. */
export type FramesOf = (page: FeedPage, addressee: Addressee) => readonly FrameBlock[]

/** Forms of one page that are kept: most clients have few subscriptions, so their ids are few. */
const MAX_FORMS = 4
/** A slow client holds little more than one block; a fast one takes a page in a few. */
const BLOCK_BYTES = 16_384

export function createFramesOf(): FramesOf {
  /** As long as the feed shares the page. */
  const framed = new WeakMap<FeedPage, Map<string, readonly FrameBlock[]>>()

  return (page, addressee) => {
    const known = framed.get(page)?.get(addressee.id)
    if (known !== undefined) return known
    const blocks = toBlocks(page.events, addressee)
    const forms = framed.get(page)
    if (forms === undefined) framed.set(page, new Map([[addressee.id, blocks]]))
    else if (forms.size < MAX_FORMS) forms.set(addressee.id, blocks)
    return blocks
  }
}

function toBlocks(events: readonly DeliveredEvent[], { id, source }: Addressee): readonly FrameBlock[] {
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

/** A text message of a server, which is not masked. */
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
