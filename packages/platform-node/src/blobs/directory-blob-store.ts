import { createHash, randomBytes } from 'node:crypto'
import { renameSync, statSync, unlinkSync } from 'node:fs'
import { mkdir, open, opendir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type BlobStore, type ByteRange, type Clock, type EpochMs, perdureError } from '@perdure/ports'
import { type BlobCodec, createBlobCipher, plainContent } from './blob-cipher.ts'

export interface DirectoryBlobStoreOptions {
  /** Created with mode 0700 when the first blob is stored. */
  readonly directory: string
  readonly clock: Pick<Clock, 'now'>
  /** Encrypts the contents; if missing, they are stored as they are. The hashes stay readable: they name the files. */
  readonly secret?: Uint8Array | undefined
}

const HASH = /^[0-9a-f]{64}$/
const FOLDER = /^[0-9a-f]{2}$/
/** Holds what `put` calls are writing. */
const PARTS = 'parts'

/**
 * Stores each blob as a file that only its owner may read (0600), in a folder named after the first byte of its hash. The
 * modification time is the time at which it was last stored. Other processes may use the directory at the same time.
 */
export function createDirectoryBlobStore({ directory, clock, secret }: DirectoryBlobStoreOptions): BlobStore {
  const codec = secret === undefined ? plainContent : createBlobCipher(secret)
  const pathOf = (sha256: string) => join(directory, sha256.slice(0, 2), sha256.slice(2))

  return {
    async put(chunks) {
      const part = join(directory, PARTS, randomBytes(16).toString('hex'))
      await storing(() => makeDirectory(dirname(part)))
      try {
        const blob = await writePart(part, chunks, { clock, codec })
        const target = pathOf(blob.sha256)
        await storing(async () => {
          await makeDirectory(dirname(target))
          renameSync(part, target)
          await flushDirectory(dirname(target))
        })
        return blob
      } catch (error) {
        await unlink(part).catch(() => undefined)
        throw error
      }
    },
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
    async discard(before) {
      const folder = join(directory, PARTS)
      return (await entriesOf(folder)).filter((name) => unlinkOlder(join(folder, name), before)).length
    },
  }
}

interface Writing {
  readonly clock: Pick<Clock, 'now'>
  readonly codec: BlobCodec
}

async function writePart(path: string, chunks: AsyncIterable<Uint8Array>, { clock, codec }: Writing) {
  const file = await storing(() => open(path, 'wx', 0o600))
  const hash = createHash('sha256')
  let size = 0
  async function* hashed() {
    for await (const chunk of chunks) {
      hash.update(chunk)
      size += chunk.byteLength
      yield chunk
    }
  }
  try {
    for await (const chunk of codec.encode(hashed())) await storing(() => file.writeFile(chunk))
    await storing(async () => {
      const storedAt = new Date(clock.now())
      await file.utimes(storedAt, storedAt)
      await file.sync()
    })
    return { sha256: hash.digest('hex'), size }
  } finally {
    await file.close()
  }
}

/** Without an interruption between the check and the deletion, in which a `put` of this process could renew the file. */
function unlinkOlder(path: string, before: EpochMs): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.mtimeMs >= before) return false
  unlinkSync(path)
  return true
}

/** Opens the file when the first chunk is read: a response whose client is gone is never read, and would leave it open. */
async function* chunksOf(path: string, range: ByteRange | undefined, codec: BlobCodec): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    yield* codec.decode(file, range ?? { start: 0, end: codec.contentSize((await file.stat()).size) })
  } finally {
    await file.close()
  }
}

async function makeDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 })
  if (made === undefined) return
  for (let folder = path; folder.length >= made.length; folder = dirname(folder)) await flushDirectory(dirname(folder))
}

async function flushDirectory(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function entriesOf(path: string): Promise<readonly string[]> {
  const folder = await opendir(path).catch(noneIfMissing)
  if (folder === undefined) return []
  const names: string[] = []
  for await (const { name } of folder) names.push(name)
  return names
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

function noneIfMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])

/** Translates the errors of the file system, but not those of the source. */
async function storing<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    if (FULL.has(codeOf(error))) throw perdureError('storage-full', { cause: error })
    throw perdureError('storage-unavailable', {
      message: 'The folder of the files cannot be written; nothing was written.',
      hint: 'check storage.files.directory and its permissions',
      cause: error,
    })
  }
}
