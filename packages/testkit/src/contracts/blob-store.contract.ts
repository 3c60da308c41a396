import { createHash } from 'node:crypto'
import type { BlobStore, EpochMs, StoredBlob } from '@perdure/ports'
import { describe, expect, it } from 'vitest'

export interface BlobStoreHarness {
  readonly name: string
  /** Opens an empty store whose clock stands at `at`, and moves that clock. */
  open(at: EpochMs): Promise<{ readonly blobs: BlobStore; readonly setClock: (at: EpochMs) => void }>
}

export interface BlobStoreCase {
  readonly title: string
  run(blobs: BlobStore, setClock: (at: EpochMs) => void): Promise<void>
}

const NOON = Date.UTC(2025, 0, 1, 12) as EpochMs
const LATER = (NOON + 60_000) as EpochMs
const END = (NOON + 3_600_000) as EpochMs

const bytesOf = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => (index * 7) % 256)
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function* chunksOf(bytes: Uint8Array, length = 1_000): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length)
}

async function readAll(chunks: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array | undefined> {
  if (chunks === undefined) return undefined
  const read: Uint8Array[] = []
  for await (const chunk of chunks) read.push(chunk)
  return new Uint8Array(Buffer.concat(read))
}

async function listAll(blobs: BlobStore, before = END): Promise<readonly StoredBlob[]> {
  const found: StoredBlob[] = []
  for await (const { sha256, size } of blobs.list(before)) found.push({ sha256, size })
  return found.sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
}

const put = (blobs: BlobStore, bytes: Uint8Array) => blobs.put(chunksOf(bytes))

export const blobStoreCases: readonly BlobStoreCase[] = [
  {
    title: 'stores bytes under their SHA-256 and reads them back',
    async run(blobs) {
      for (const size of [0, 1, 200_000]) {
        const bytes = bytesOf(size)
        expect(await put(blobs, bytes)).toEqual({ sha256: hashOf(bytes), size })
        expect(await readAll(await blobs.read(hashOf(bytes)))).toEqual(bytes)
      }
    },
  },
  {
    title: 'reads a part of a blob',
    async run(blobs) {
      const bytes = bytesOf(200_000)
      const { sha256 } = await put(blobs, bytes)

      for (const range of [
        { start: 0, end: 1 },
        { start: 199_999, end: 200_000 },
        { start: 70_000, end: 150_000 },
        { start: 5, end: 5 },
      ]) {
        expect(await readAll(await blobs.read(sha256, range))).toEqual(bytes.slice(range.start, range.end))
      }
    },
  },
  {
    title: 'returns nothing for an unknown hash, and for a text that is not a hash',
    async run(blobs) {
      for (const hash of ['0'.repeat(64), '../secret', '']) expect(await blobs.read(hash)).toBeUndefined()
    },
  },
  {
    title: 'stores nothing when the source fails, and throws its error',
    async run(blobs) {
      async function* broken() {
        yield bytesOf(100_000)
        throw new Error('cut off')
      }

      await expect(blobs.put(broken())).rejects.toThrow('cut off')
      expect(await listAll(blobs)).toEqual([])
    },
  },
  {
    title: 'stores a content once, also when it is stored concurrently',
    async run(blobs) {
      const bytes = bytesOf(50_000)
      const stored = await Promise.all(Array.from({ length: 5 }, () => put(blobs, bytes)))

      expect(new Set(stored.map(({ sha256 }) => sha256)).size).toBe(1)
      expect(await listAll(blobs)).toEqual([{ sha256: hashOf(bytes), size: 50_000 }])
      expect(await readAll(await blobs.read(hashOf(bytes)))).toEqual(bytes)
    },
  },
  {
    title: 'lists and deletes only blobs that were last stored before an instant',
    async run(blobs, setClock) {
      const [old, renewed, young] = [bytesOf(1), bytesOf(2), bytesOf(3)] as const
      await put(blobs, old)
      await put(blobs, renewed)
      setClock(LATER)
      await put(blobs, renewed)
      await put(blobs, young)

      expect(await listAll(blobs, LATER)).toEqual([{ sha256: hashOf(old), size: 1 }])
      expect(await blobs.delete(hashOf(renewed), LATER)).toBe(false)
      expect(await blobs.delete(hashOf(young), LATER)).toBe(false)
      expect(await blobs.delete(hashOf(old), LATER)).toBe(true)
      expect(await blobs.delete(hashOf(old), LATER)).toBe(false)
      expect((await listAll(blobs)).map(({ size }) => size).sort()).toEqual([2, 3])
    },
  },
  {
    title: 'finishes a read that was open when its blob was deleted, or breaks it off, and never returns other bytes',
    async run(blobs) {
      const bytes = bytesOf(300_000)
      const { sha256 } = await put(blobs, bytes)
      const open = await blobs.read(sha256)
      await blobs.delete(sha256, END)

      const read = await readAll(open).catch(() => undefined)
      expect(read ?? bytes).toEqual(bytes)
      expect(await blobs.read(sha256)).toBeUndefined()
    },
  },
  {
    title: 'discards nothing when no put was cut off',
    async run(blobs) {
      await put(blobs, bytesOf(9))

      expect(await blobs.discard(END)).toBe(0)
      expect(await listAll(blobs)).toHaveLength(1)
    },
  },
]

/** Requirements for every `BlobStore`. */
export function blobStoreContract({ name, open }: BlobStoreHarness): void {
  describe(`BlobStore: ${name}`, () => {
    it.each(blobStoreCases)('$title', async ({ run }) => {
      const { blobs, setClock } = await open(NOON)
      await run(blobs, setClock)
    })
  })
}
