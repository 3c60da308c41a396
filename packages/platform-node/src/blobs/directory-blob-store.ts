import { renameSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobStore, ByteRange, Clock } from '@perdure/ports'
import { type BlobCodec, createBlobCipher, plainContent } from './blob-cipher.ts'
import {
  createBlobParts,
  entriesOf,
  flushDirectory,
  makeDirectory,
  noneIfMissing,
  storing,
  unlinkOlder,
} from './blob-parts.ts'
import { fileSource } from './blob-source.ts'

export interface DirectoryBlobStoreOptions {
  /** Created with mode 0700 when the first blob is stored. */
  readonly directory: string
  readonly clock: Pick<Clock, 'now'>
  /** Encrypts the contents; if missing, they are stored as they are. The hashes stay readable: they name the files. */
  readonly secret?: Uint8Array | undefined
}

const HASH = /^[0-9a-f]{64}$/
const FOLDER = /^[0-9a-f]{2}$/

/**
 * Stores each blob as a file that only its owner may read (0600), in a folder named after the first byte of its hash. The
 * modification time is the time at which it was last stored. Other processes may use the directory at the same time.
 */
export function createDirectoryBlobStore({ directory, clock, secret }: DirectoryBlobStoreOptions): BlobStore {
  const codec = secret === undefined ? plainContent : createBlobCipher(secret)
  const parts = createBlobParts({ directory, clock, codec })
  const pathOf = (sha256: string) => join(directory, sha256.slice(0, 2), sha256.slice(2))

  return {
    put: (chunks) =>
      parts.write(chunks, async ({ path, sha256, size }) => {
        const target = pathOf(sha256)
        await storing(async () => {
          await makeDirectory(dirname(target))
          renameSync(path, target)
          await flushDirectory(dirname(target))
        })
        return { sha256, size }
      }),
    async read(sha256, range) {
      if (!HASH.test(sha256)) return undefined
      const path = pathOf(sha256)
      const found = await stat(path).catch(noneIfMissing)
      return found === undefined ? undefined : chunksOf(path, range, codec)
    },
    async *list(before) {
      for (const folder of (await entriesOf(directory)).filter((name) => FOLDER.test(name))) {
        for (const name of await entriesOf(join(directory, folder))) {
          const found = HASH.test(folder + name) ? await stat(pathOf(folder + name)).catch(noneIfMissing) : undefined
          if (found !== undefined && found.mtimeMs < before)
            yield { sha256: folder + name, size: codec.contentSize(found.size) }
        }
      }
    },
    async delete(sha256, before) {
      return HASH.test(sha256) && unlinkOlder(pathOf(sha256), before)
    },
    discard: parts.discard,
  }
}

/** Opens the file when the first chunk is read: a response whose client is gone is never read, and would leave it open. */
async function* chunksOf(path: string, range: ByteRange | undefined, codec: BlobCodec): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    yield* codec.decode(fileSource(file), range)
  } finally {
    await file.close()
  }
}
