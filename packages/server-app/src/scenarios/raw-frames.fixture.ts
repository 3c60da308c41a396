import { randomBytes } from 'node:crypto'

/** A client frame, which may be malformed. */
export interface RawFrame {
  readonly fin: boolean
  readonly rsv: number
  readonly opcode: number
  readonly isMasked: boolean
  readonly payload: Uint8Array
  /** Length in the header, if it differs from the length of the payload. */
  readonly announced: number | undefined
}

export const textFrame = (text: string): RawFrame => ({
  ...{ fin: true, rsv: 0, opcode: 1, isMasked: true, announced: undefined },
  payload: Buffer.from(text),
})

export function encodeFrame({ fin, rsv, opcode, isMasked, payload: body, announced }: RawFrame): Buffer {
  const length = announced ?? body.length
  const head = [(fin ? 0x80 : 0) | (rsv << 4) | opcode]
  const bit = isMasked ? 0x80 : 0
  if (length < 126) head.push(bit | length)
  else if (length < 65_536) head.push(bit | 126, length >> 8, length & 0xff)
  else head.push(bit | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (length >>> shift) & 0xff))
  const mask = isMasked ? randomBytes(4) : Buffer.alloc(0)
  const masked = isMasked ? body.map((byte, index) => byte ^ (mask[index % 4] ?? 0)) : body
  return Buffer.concat([Buffer.from(head), mask, masked])
}

export interface ServerFrame {
  readonly opcode: number
  readonly body: Buffer
}

/** Decodes server frames, which are never masked or continued. */
export function decodeFrames(bytes: Buffer): readonly ServerFrame[] {
  const frames: ServerFrame[] = []
  let rest = bytes
  while (rest.length >= 2) {
    let length = (rest[1] ?? 0) & 0x7f
    let at = 2
    if (length === 126) {
      length = rest.readUInt16BE(2)
      at = 4
    } else if (length === 127) {
      length = Number(rest.readBigUInt64BE(2))
      at = 10
    }
    frames.push({ opcode: (rest[0] ?? 0) & 0x0f, body: rest.subarray(at, at + length) })
    rest = rest.subarray(at + length)
  }
  return frames
}
