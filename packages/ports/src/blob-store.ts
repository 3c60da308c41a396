import type { EpochMs } from './clock.ts'

export interface StoredBlob {
  readonly sha256: string // hexadecimal
  readonly size: number // bytes
}

/** The bytes from `start` up to, but not including, `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Port. Stores contents beside the database, each once, under its SHA-256. A blob has no owner: a file of the database
 * refers to it, and a sweep deletes blobs without a file. Must pass `blobStoreContract`.
 */
export interface BlobStore {
  /**
   * Stores the bytes; resolves when they are durable under their hash. Storing a content again renews the time at which it
   * counts as stored. A reader never sees a part of a blob. If the source fails or the process dies, no blob is stored.
   *
   * @throws what the source throws; PerdureError `storage-full`, `storage-unavailable`
   */
  put(chunks: AsyncIterable<Uint8Array>): Promise<StoredBlob>
  /** Reads a blob, or a part of it, in chunks; `undefined` if there is no such blob. */
  read(sha256: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Lists the blobs that were last stored before `before`, in any order. */
  list(before: EpochMs): AsyncIterable<StoredBlob>
  /**
   * Deletes the blob unless it is unknown or was stored at `before` or later, even if it is stored again at the same time.
   * Returns whether it was deleted.
   */
  delete(sha256: string, before: EpochMs): Promise<boolean>
  /** Deletes what `put` calls left behind that were cut off before `before`. Returns how many. */
  discard(before: EpochMs): Promise<number>
}
