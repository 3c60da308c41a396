import { createHash, randomBytes } from 'node:crypto'
import { statSync, unlinkSync } from 'node:fs'
import { mkdir, open, opendir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Clock, type EpochMs, perdureError, type StoredBlob } from '@perdure/ports'
import type { BlobCodec } from './blob-cipher.ts'

/** Holds what `put` calls are writing. */
const PARTS = 'parts'

export interface BlobPartsOptions {
  /** Created with mode 0700 when the first part is written. */
  readonly directory: string
  readonly clock: Pick<Clock, 'now'>
  readonly codec: BlobCodec
}

/** A content as it is stored, in a file that only its owner may read (0600). */
export interface WrittenPart extends StoredBlob {
  readonly path: string
}

/** Contents that are being stored: complete files on their way to their place. */
export function createBlobParts({ directory, clock, codec }: BlobPartsOptions) {
  return {
    /**
     * Writes and flushes the chunks, and hands the file to `use`. The file is deleted afterwards unless `use` has moved it.
     *
     * @param onStored receives the bytes as they are stored
     * @throws what the source or `use` throws; PerdureError `storage-full`, `storage-unavailable`
     */
    async write<T>(
      chunks: AsyncIterable<Uint8Array>,
      use: (part: WrittenPart) => Promise<T>,
      onStored: (bytes: Uint8Array) => void = () => undefined,
    ): Promise<T> {
      const path = join(directory, PARTS, randomBytes(16).toString('hex'))
      await storing(() => makeDirectory(dirname(path)))
      try {
        return await use(await writePart(path, chunks, { clock, codec, onStored }))
      } finally {
        await unlink(path).catch(() => undefined)
      }
    },
    /** Deletes the parts that were cut off before an instant. Returns how many. */
    async discard(before: EpochMs): Promise<number> {
      const folder = join(directory, PARTS)
      return (await entriesOf(folder)).filter((name) => unlinkOlder(join(folder, name), before)).length
    },
  }
}

interface Writing extends Pick<BlobPartsOptions, 'clock' | 'codec'> {
  readonly onStored: (bytes: Uint8Array) => void
}

async function writePart(path: string, chunks: AsyncIterable<Uint8Array>, { clock, codec, onStored }: Writing) {
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
    for await (const chunk of codec.encode(hashed())) {
      onStored(chunk)
      await storing(() => file.writeFile(chunk))
    }
    await storing(async () => {
      const storedAt = new Date(clock.now())
      await file.utimes(storedAt, storedAt)
      await file.sync()
    })
    return { path, sha256: hash.digest('hex'), size }
  } finally {
    await file.close()
  }
}

export async function makeDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 })
  if (made === undefined) return
  for (let folder = path; folder.length >= made.length; folder = dirname(folder)) await flushDirectory(dirname(folder))
}

export async function flushDirectory(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Without an interruption between the check and the deletion, in which a `put` of this process could renew the file. */
export function unlinkOlder(path: string, before: EpochMs): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.mtimeMs >= before) return false
  unlinkSync(path)
  return true
}

export async function entriesOf(path: string): Promise<readonly string[]> {
  const folder = await opendir(path).catch(noneIfMissing)
  if (folder === undefined) return []
  const names: string[] = []
  for await (const { name } of folder) names.push(name)
  return names
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

export function noneIfMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])

/** Translates the errors of the file system, but not those of the source. */
export async function storing<T>(use: () => Promise<T>): Promise<T> {
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
