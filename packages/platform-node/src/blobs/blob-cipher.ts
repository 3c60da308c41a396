import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { ByteRange } from '@perdure/ports'

/** How the content of a file on disk is encoded. */
export interface BlobCodec {
  encode(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** The size of the content in a file of this size. */
  contentSize(fileSize: number): number
  /** @throws Error for a file that was altered, or that another key encrypted */
  decode(file: FileHandle, range: ByteRange): AsyncIterable<Uint8Array>
}

const SEGMENT = 65_536
const TAG = 16
const SALT = 16
const VERSION = 1
const HEADER = 1 + SALT
const PURPOSE = 'perdure/blob/v1'

/**
 * AES-256-GCM in segments of 64 KiB, so that a part can be read without the rest. Each file has a key of its own, derived
 * from the secret and a random salt. The nonce of a segment is its number, and marks the last one: segments cannot be
 * exchanged, and a shortened file is noticed.
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
    contentSize: (fileSize) => fileSize - HEADER - segmentsIn(fileSize) * TAG,
    async *decode(file, { start, end }) {
      const { size } = await file.stat()
      const header = await readAt(file, 0, HEADER)
      if (header[0] !== VERSION) throw new Error('the file is not an encrypted blob')
      const key = keyOf(header.subarray(1))
      const count = segmentsIn(size)
      for (let number = Math.floor(start / SEGMENT); number * SEGMENT < end; number++) {
        const position = HEADER + number * (SEGMENT + TAG)
        const sealed = await readAt(file, position, Math.min(SEGMENT + TAG, size - position))
        const content = open(key, nonceOf(number, number === count - 1), sealed)
        yield content.subarray(Math.max(0, start - number * SEGMENT), Math.min(content.length, end - number * SEGMENT))
      }
    },
  }
}

const segmentsIn = (fileSize: number): number => Math.ceil((fileSize - HEADER) / (SEGMENT + TAG))

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

async function readAt(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) throw new Error('the file of a blob is shorter than before')
    filled += bytesRead
  }
  return bytes
}

/** The content as it is. */
export const plainContent: BlobCodec = {
  encode: (chunks) => chunks,
  contentSize: (fileSize) => fileSize,
  async *decode(file, { start, end }) {
    if (end > start) yield* file.createReadStream({ start, end: end - 1, autoClose: false })
  },
}
