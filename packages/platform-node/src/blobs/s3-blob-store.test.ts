import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlobStore, EpochMs } from '@perdure/ports'
import { blobStoreContract, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { startBucket } from './bucket-server.fixture.ts'
import { openS3BlobStore, type S3BlobStoreOptions } from './s3-blob-store.ts'

const newDirectory = () => join(mkdtempSync(join(tmpdir(), 'perdure-s3-')), 'files')
const SECRET = new TextEncoder().encode('a passphrase')

for (const [name, more] of [
  ['bucket', {}],
  ['bucket with a prefix, encrypted', { prefix: 'perdure/a/', secret: SECRET }],
] as const) {
  blobStoreContract({
    name,
    async open(at) {
      let now = at
      const { options } = await startBucket()
      const clock = { now: () => now }
      const blobs = await openS3BlobStore({ ...options, prefix: '', directory: newDirectory(), clock, ...more })
      return {
        blobs,
        setClock: (later) => {
          now = later
        },
      }
    },
  })
}

async function* hello() {
  yield new TextEncoder().encode('hello')
}
const HELLO = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

async function textOf(blobs: BlobStore, sha256 = HELLO): Promise<string | undefined> {
  const chunks = await blobs.read(sha256)
  if (chunks === undefined) return undefined
  let text = ''
  for await (const chunk of chunks) text += Buffer.from(chunk).toString()
  return text
}

async function setUp(over: Partial<S3BlobStoreOptions> = {}) {
  const bucket = await startBucket()
  const clock = createManualClock()
  const directory = newDirectory()
  const blobs = await openS3BlobStore({ ...bucket.options, prefix: '', directory, clock, ...over })
  return { bucket, clock, directory, blobs }
}

const HOUR_MS = 3_600_000

describe('openS3BlobStore', () => {
  it('names an object after the hash and the time of its content, and leaves nothing on the disk', async () => {
    const { bucket, blobs, clock, directory } = await setUp({ prefix: 'p/' })
    await blobs.put(hello())

    expect([...bucket.objects.keys()]).toEqual([
      expect.stringMatching(new RegExp(`^p/${HELLO}/${clock.now()}-[0-9a-f]{16}$`)),
    ])
    expect(readdirSync(join(directory, 'parts'))).toEqual([])
    expect((statSync(directory).mode & 0o777).toString(8)).toBe('700')
  })

  it('keeps a content that is stored while it is being deleted', async () => {
    const { bucket, blobs, clock } = await setUp()
    await blobs.put(hello())
    const before = (clock.now() + 1) as EpochMs
    clock.advance(10)
    let isStored = false
    bucket.fault = ({ method }) => {
      if (method === 'DELETE' && !isStored) {
        isStored = true
        bucket.objects.set(`${HELLO}/${clock.now()}-0000000000000000`, Buffer.from('hello'))
      }
      return undefined
    }

    expect(await blobs.delete(HELLO, before)).toBe(true)
    expect(await textOf(blobs)).toBe('hello')
    expect(await blobs.delete(HELLO, before)).toBe(false)
  })

  it('keeps one object of a content that is stored again and again, once nobody can be reading the others', async () => {
    const { bucket, blobs, clock } = await setUp()
    for (let count = 0; count < 4; count++) await blobs.put(hello())
    expect(bucket.objects.size).toBe(4)

    clock.advance(HOUR_MS + 1)
    await blobs.put(hello())

    expect(bucket.objects.size).toBe(1)
    expect(await textOf(blobs)).toBe('hello')
  })

  it('finishes a read whose object was replaced after it was found', async () => {
    const { bucket, blobs, clock } = await setUp()
    await blobs.put(hello())
    const read = await blobs.read(HELLO)
    clock.advance(HOUR_MS + 1)
    await blobs.put(hello())
    expect(bucket.objects.size).toBe(1)

    let text = ''
    for await (const chunk of read ?? []) text += Buffer.from(chunk).toString()
    expect(text).toBe('hello')
  })

  it('ignores objects that others have put below the prefix', async () => {
    const { bucket, blobs, clock } = await setUp()
    for (const key of ['readme.txt', `${HELLO}/other`, `x${HELLO}/1735732800000-0000000000000000`])
      bucket.objects.set(key, Buffer.from('x'))
    const found: unknown[] = []
    for await (const blob of blobs.list((clock.now() + 1) as EpochMs)) found.push(blob)

    expect(found).toEqual([])
    expect(await blobs.read(HELLO)).toBeUndefined()
  })

  it('stores nothing that can be read without the secret', async () => {
    const { bucket, blobs } = await setUp({ secret: SECRET })
    await blobs.put(hello())

    expect([...bucket.objects.values()].some((bytes) => bytes.includes('hello'))).toBe(false)
    for (const [key, bytes] of bucket.objects) bucket.objects.set(key, bytes.subarray(0, -1))
    await expect(textOf(blobs)).rejects.toThrow()
  })

  it('repeats a request that the bucket could not answer for the moment', async () => {
    const { bucket, blobs } = await setUp()
    let failures = 2
    bucket.fault = ({ method }) => (method === 'PUT' && failures-- > 0 ? [503, 'SlowDown'] : undefined)

    expect(await blobs.put(hello())).toEqual({ sha256: HELLO, size: 5 })
    expect(await textOf(blobs)).toBe('hello')
  })

  it.each([
    ['a wrong secret', { secretAccessKey: 'other' }, '403 SignatureDoesNotMatch'],
    ['a bucket that does not exist', { bucket: 'other' }, '404 NoSuchBucket'],
    ['a server that is not there', { endpoint: 'http://127.0.0.1:1' }, 'no answer'],
  ])('reports %s as an unavailable storage, with what to check', async (_, over, reason) => {
    const { blobs } = await setUp(over)
    const unavailable = { code: 'storage-unavailable', hint: expect.stringContaining('check storage.files.s3') }

    for (const work of [() => blobs.put(hello()), () => blobs.read(HELLO), () => blobs.delete(HELLO, 1 as EpochMs)]) {
      await expect(work()).rejects.toMatchObject({ ...unavailable, message: expect.stringContaining(reason) })
    }
  })
})
