import {
  type BlobStore,
  type Clock,
  concatBytes,
  type Digest,
  type FileStore,
  MAX_INLINE_BYTES,
  perdureError,
  sha256OfBytes,
} from '@perdure/ports'
import { toBase64 } from '../json/base64.ts'
import { correctedTypeOf, mediaTypeOf } from './media-type.ts'
import { createRecentUploads } from './recent-uploads.ts'

export interface FileLimits {
  readonly maxBytes: number
  /** Limit for all files of one owner together. */
  readonly maxBytesPerOwner: number
}

export interface ReceiveFileDeps {
  readonly blobs: BlobStore
  readonly files: Pick<FileStore, 'usage'>
  readonly digest: Pick<Digest, 'startSha256'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly limits: FileLimits
}

export interface IncomingFile {
  readonly chunks: AsyncIterable<Uint8Array>
  /** The media type that the client declares. */
  readonly mediaType: string | undefined
  readonly owner: string
  /** Whether a declared type that the content contradicts is replaced, instead of refused. */
  readonly isCorrected?: boolean
}

/** A content that is durable, or small enough to be stored with the record of its file. No file refers to it yet. */
export interface ReceivedFile {
  readonly sha256: string
  readonly size: number
  readonly mediaType: string
  /** Base64; missing if the blob store has it. */
  readonly content?: string | undefined
}

/**
 * Reads a content, and stores a large one as a blob. If no file refers to the blob afterwards, the sweep deletes it.
 *
 * @throws PerdureError `body-too-large`, `file-quota-exceeded`, `unsupported-media-type`, `validation-failed`
 */
export type ReceiveFile = (incoming: IncomingFile) => Promise<ReceivedFile>

export function createReceiveFile({ blobs, files, digest, clock, limits }: ReceiveFileDeps): ReceiveFile {
  const recent = createRecentUploads(clock)
  return async ({ chunks, mediaType, owner, isCorrected = false }) => {
    const { bytes } = await files.usage(owner)
    const upload = recent.begin(owner)
    // Checked again when the file is stored. Here, an owner without room costs no reading and no place on the disk.
    const count = (size: number, more: number) => {
      const isOver = bytes + size > limits.maxBytesPerOwner || upload.add(more) > limits.maxBytesPerOwner
      if (!isOver && bytes < limits.maxBytesPerOwner) return
      // Before the reading ends, which takes time: otherwise a refused upload has the concurrent ones refused that fit.
      upload.cancel()
      throw quotaExceeded(limits)
    }
    count(0, 0)
    const source = withLimit(chunks, limits.maxBytes, count)[Symbol.asyncIterator]()
    try {
      const { start, isWhole } = await readStart(source)
      const type = isCorrected ? correctedTypeOf(mediaType, start) : mediaTypeOf(mediaType, start)
      if (!isWhole) return { ...(await blobs.put(joined(start, source))), mediaType: type }
      return { sha256: sha256OfBytes(digest, start), size: start.length, mediaType: type, content: toBase64(start) }
    } catch (error) {
      upload.cancel()
      throw error
    } finally {
      await source.return(undefined)
    }
  }
}

export const quotaExceeded = ({ maxBytesPerOwner }: FileLimits) =>
  perdureError('file-quota-exceeded', {
    message: `the files of this owner may have ${maxBytesPerOwner} bytes together`,
    hint: 'delete files or the sessions that hold them, set retention.runsDays for those that runs hold, or raise files.maxBytesPerOwner',
  })

async function* withLimit(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  count: (size: number, more: number) => void,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    count(size, chunk.length)
    if (size > maxBytes) {
      throw perdureError('body-too-large', {
        message: `the file is larger than ${maxBytes} bytes`,
        hint: `send at most ${maxBytes} bytes, or raise files.maxBytes`,
      })
    }
    yield chunk
  }
}

/** Reads up to one chunk more than is stored with a record. */
async function readStart(source: AsyncIterator<Uint8Array>) {
  const parts: Uint8Array[] = []
  for (let size = 0; size <= MAX_INLINE_BYTES; ) {
    const { done, value } = await source.next()
    if (done === true) return { start: concatBytes(parts), isWhole: true }
    parts.push(value)
    size += value.length
  }
  return { start: concatBytes(parts), isWhole: false }
}

async function* joined(start: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield start
  for (;;) {
    const { done, value } = await rest.next()
    if (done === true) return
    yield value
  }
}
