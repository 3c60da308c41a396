import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { ByteRange } from '@perdure/ports'
import type { BlobSource } from './blob-source.ts'

/** How the content of a blob is stored. */
export interface BlobCodec {
  encode(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** The size of the content that is stored in so many bytes. */
  contentSize(storedSize: number): number
  /**
   * The content, or a part of it.
   *
   * @throws Error for stored bytes that were altered, or that another key encrypted
   */
  decode(source: BlobSource, range: ByteRange | undefined): AsyncIterable<Uint8Array>
}

const SEGMENT = 65_536
const TAG = 16
const SALT = 16
const VERSION = 1
const HEADER = 1 + SALT
const PURPOSE = 'perdure/blob/v1'

/**
 * AES-256-GCM in segments of 64 KiB, so that a part can be read without the rest. Each blob has a key of its own, derived
 * from the secret and a random salt. The nonce of a segment is its number, and marks the last one: segments cannot be
 * exchanged, and a shortened blob is noticed.
 */
export function createBlobCipher(secret: Uint8Array): BlobCodec {
  const keyOf = (salt: Uint8Array) => new Uint8Array(hkdfSync('sha256', secret, salt, PURPOSE, 32))

  return {
    async *encode(chunks) {
      const salt = randomBytes(SALT)
      const key = keyOf(salt)
      yield Buffer.concat([Buffer.from([VERSION]), salt])
      let number = 0
      let rest = Buffer.alloc(0)
      for await (const chunk of chunks) {
        rest = Buffer.concat([rest, chunk])
        // The last segment is known only at the end, so a full one is held back.
        while (rest.length > SEGMENT) {
          yield seal(key, nonceOf(number++, false), rest.subarray(0, SEGMENT))
          rest = rest.subarray(SEGMENT)
        }
      }
      yield seal(key, nonceOf(number, true), rest)
    },
    contentSize,
    async *decode(source, range) {
      const size = await source.size()
      const { start, end } = range ?? { start: 0, end: contentSize(size) }
      const header = await allOf(source.bytes(0, HEADER), HEADER)
      if (header[0] !== VERSION) throw new Error('the stored bytes are not an encrypted blob')
      const key = keyOf(header.subarray(1))
      const count = segmentsIn(size)
      let number = Math.floor(start / SEGMENT)
      const last = Math.min(count, Math.ceil(end / SEGMENT))
      const sealed = source.bytes(positionOf(number), Math.min(size, positionOf(last)))
      for await (const segment of segmentsOf(sealed)) {
        const content = open(key, nonceOf(number, number === count - 1), segment)
        yield content.subarray(Math.max(0, start - number * SEGMENT), Math.min(content.length, end - number * SEGMENT))
        number++
      }
      if (number < last) throw new Error('the stored bytes of a blob are shorter than before')
    },
  }
}

const positionOf = (segment: number): number => HEADER + segment * (SEGMENT + TAG)

const contentSize = (storedSize: number): number => storedSize - HEADER - segmentsIn(storedSize) * TAG

const segmentsIn = (storedSize: number): number => Math.ceil((storedSize - HEADER) / (SEGMENT + TAG))

function nonceOf(number: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(number, 4)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

function seal(key: Uint8Array, nonce: Uint8Array, content: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()])
}

function open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG))
  return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG)), decipher.final()])
}

/** Cuts a stream of bytes into sealed segments. */
async function* segmentsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk])
    for (; rest.length >= SEGMENT + TAG; rest = rest.subarray(SEGMENT + TAG)) yield rest.subarray(0, SEGMENT + TAG)
  }
  if (rest.length > 0) yield rest
}

async function allOf(chunks: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const read: Uint8Array[] = []
  for await (const chunk of chunks) read.push(chunk)
  const bytes = Buffer.concat(read)
  if (bytes.length < length) throw new Error('the stored bytes of a blob are shorter than before')
  return bytes
}

/** The content as it is. */
export const plainContent: BlobCodec = {
  encode: (chunks) => chunks,
  contentSize: (storedSize) => storedSize,
  async *decode(source, range) {
    const { start, end } = range ?? { start: 0, end: await source.size() }
    if (end > start) yield* source.bytes(start, end)
  },
}
