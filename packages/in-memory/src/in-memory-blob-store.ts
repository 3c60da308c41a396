import { type BlobStore, type Clock, concatBytes, type Digest, type EpochMs } from '@perdure/ports'

interface Blob {
  readonly bytes: Uint8Array
  readonly storedAt: EpochMs
}

/** A `BlobStore` in memory. */
export function createInMemoryBlobStore({
  clock,
  digest,
}: {
  readonly clock: Pick<Clock, 'now'>
  readonly digest: Pick<Digest, 'startSha256'>
}): BlobStore {
  const blobs = new Map<string, Blob>()

  return {
    async put(chunks) {
      const hash = digest.startSha256()
      const parts: Uint8Array[] = []
      for await (const chunk of chunks) {
        hash.update(chunk)
        parts.push(chunk.slice())
      }
      const bytes = concatBytes(parts)
      const sha256 = hash.end()
      blobs.set(sha256, { bytes, storedAt: clock.now() })
      return { sha256, size: bytes.length }
    },
    async read(sha256, range) {
      const bytes = blobs.get(sha256)?.bytes
      return bytes === undefined ? undefined : oneChunk(bytes.slice(range?.start, range?.end))
    },
    async *list(before) {
      for (const [sha256, { bytes, storedAt }] of [...blobs]) {
        if (storedAt < before) yield { sha256, size: bytes.length }
      }
    },
    async delete(sha256, before) {
      const storedAt = blobs.get(sha256)?.storedAt
      return storedAt !== undefined && storedAt < before && blobs.delete(sha256)
    },
    discard: async () => 0,
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
