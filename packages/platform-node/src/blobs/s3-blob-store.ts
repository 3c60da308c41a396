import { createHash, randomBytes } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { type BlobStore, type ByteRange, type Clock, type EpochMs, StartError } from '@perdure/ports'
import { createBlobCipher, plainContent } from './blob-cipher.ts'
import { createBlobParts, type WrittenPart } from './blob-parts.ts'
import type { BlobSource } from './blob-source.ts'
import { createS3Bucket, type S3Bucket, type S3Options, type StoredObject } from './s3-bucket.ts'

export interface S3BlobStoreOptions extends S3Options {
  /** The beginning of all keys; empty, or a path that ends with `/`. */
  readonly prefix: string
  /** Holds contents while they are uploaded, because their hash must be known before. */
  readonly directory: string
  readonly clock: Pick<Clock, 'now'>
  /** Encrypts the contents; if missing, they are stored as they are. The hashes stay readable: they name the objects. */
  readonly secret?: Uint8Array | undefined
}

const HASH = /^[0-9a-f]{64}$/
/** Such as `<sha256>/1735732800000-9f86d081884c7d65`. */
const KEY = /^([0-9a-f]{64})\/(\d{13})-[0-9a-f]{16}$/
const RETRIES = 3
/** An object that was replaced by one with the same content stays as long, for those who read it. */
const READ_MS = 3_600_000

interface BlobObject extends StoredObject {
  readonly sha256: string
  readonly storedAt: number
}

/**
 * Stores blobs in a bucket that speaks the protocol of S3. Each `put` writes an object of its own, with the hash and the
 * time in its key: a deletion names the objects that it has seen, so it never hits a content that is stored again at the
 * same time, and the clock of the bucket decides nothing. Several processes may use the bucket at the same time.
 *
 * @throws StartError `s3-peer-missing` if the package aws4fetch is not installed
 */
export async function openS3BlobStore(options: S3BlobStoreOptions): Promise<BlobStore> {
  const { accessKeyId, secretAccessKey, region } = options
  const { AwsClient } = await import('aws4fetch').catch(missingPeer)
  const signed = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: RETRIES })
  return createS3BlobStore(createS3Bucket(signed, options), options)
}

function createS3BlobStore(bucket: S3Bucket, { prefix, directory, clock, secret }: S3BlobStoreOptions): BlobStore {
  const codec = secret === undefined ? plainContent : createBlobCipher(secret)
  const parts = createBlobParts({ directory, clock, codec })

  const objectOf = ({ key, size }: StoredObject): BlobObject | undefined => {
    const [, sha256, storedAt] = KEY.exec(key.slice(prefix.length)) ?? []
    return sha256 === undefined ? undefined : { key, size, sha256, storedAt: Number(storedAt) }
  }

  /** The objects of each hash, the last one stored last. */
  const blobs = async function* (of = ''): AsyncGenerator<readonly BlobObject[], void, void> {
    let group: BlobObject[] = []
    for await (const stored of bucket.list(`${prefix}${of}`)) {
      const object = objectOf(stored)
      if (object === undefined) continue
      if (group[0] !== undefined && group[0].sha256 !== object.sha256) {
        yield group
        group = []
      }
      group.push(object)
    }
    if (group.length > 0) yield group
  }
  const objectsOf = async (sha256: string): Promise<readonly BlobObject[]> => {
    for await (const objects of blobs(`${sha256}/`)) return objects
    return []
  }

  const sourceOf = ({ key, sha256, size }: BlobObject): BlobSource => ({
    size: async () => size,
    async *bytes(start, end) {
      if (end <= start) return
      // A concurrent `put` of the same content has replaced the object since it was listed.
      const newer = async () => (await objectsOf(sha256)).at(-1)?.key ?? key
      const content = (await bucket.get(key, start, end)) ?? (await bucket.get(await newer(), start, end))
      if (content === undefined) throw new Error(`the blob ${sha256} was deleted while it was read`)
      yield* content
    },
  })

  return {
    put(chunks) {
      const stored = createHash('sha256')
      const upload = async ({ path, sha256, size }: WrittenPart) => {
        const key = `${prefix}${sha256}/${clock.now()}-${randomBytes(8).toString('hex')}`
        await bucket.put(key, { body: await openAsBlob(path), sha256: stored.digest('hex') })
        const replaced = (await objectsOf(sha256))
          .slice(0, -1)
          .filter(({ storedAt }) => storedAt < clock.now() - READ_MS)
        for (const { key: older } of replaced) await bucket.delete(older)
        return { sha256, size }
      }
      return parts.write(chunks, upload, (bytes) => void stored.update(bytes))
    },
    async read(sha256: string, range?: ByteRange) {
      const object = HASH.test(sha256) ? (await objectsOf(sha256)).at(-1) : undefined
      return object === undefined ? undefined : codec.decode(sourceOf(object), range)
    },
    async *list(before) {
      for await (const objects of blobs()) {
        const last = objects.at(-1)
        if (last !== undefined && last.storedAt < before)
          yield { sha256: last.sha256, size: codec.contentSize(last.size) }
      }
    },
    async delete(sha256: string, before: EpochMs) {
      const objects = HASH.test(sha256) ? await objectsOf(sha256) : []
      if (objects.length === 0 || objects.some(({ storedAt }) => storedAt >= before)) return false
      for (const { key } of objects) await bucket.delete(key)
      return true
    },
    discard: parts.discard,
  }
}

function missingPeer(cause: unknown): never {
  throw new StartError('s3-peer-missing', {
    message: 'storage.files.s3 needs the package aws4fetch, which is not installed',
    hint: 'npm install aws4fetch',
    cause,
  })
}
