import { dirname, resolve } from 'node:path'
import { createDirectoryBlobStore, openS3BlobStore } from '@perdure/platform-node'
import type { BlobStore } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { Adapters } from './adapters.ts'
import type { Secrets } from './pre-bind.ts'

export interface OpenBlobs extends Pick<Adapters, 'clock' | 'digest'> {
  readonly configDir: string
  /** Their passphrase of the database file encrypts the contents too. */
  readonly secrets: Pick<Secrets, 'storageEncryption' | 'bucketSecret'>
  /** Replaces the store of the configuration. */
  readonly given?: BlobStore | undefined
}

/**
 * The contents of files that are too large for the database. They are in memory if the database is.
 *
 * @throws StartError `s3-peer-missing`
 */
export async function openBlobs(
  { storage }: ServerConfig,
  { configDir, secrets, clock, digest, given }: OpenBlobs,
): Promise<BlobStore> {
  if (given !== undefined) return given
  const secret = secrets.storageEncryption?.passphrase
  const { path, files } = storage
  const directory = filesDirectory(storage, configDir)
  const { bucket, accessKeyId = '', region, prefix } = files.s3
  if (bucket !== undefined) {
    const key = { accessKeyId, secretAccessKey: secrets.bucketSecret ?? '' }
    return openS3BlobStore({
      ...key,
      bucket,
      region,
      prefix,
      endpoint: bucketEndpoint(storage),
      directory,
      clock,
      secret,
    })
  }
  return path === ':memory:' && files.directory === undefined
    ? lazyMemory({ clock, digest })
    : createDirectoryBlobStore({ clock, secret, directory })
}

/** Where the bucket of files is reached. */
export const bucketEndpoint = ({ files: { s3 } }: ServerConfig['storage']): string =>
  s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`

/** The folder of large contents, or of those that are being uploaded to a bucket. */
export const filesDirectory = (
  { path, files }: Pick<ServerConfig['storage'], 'path' | 'files'>,
  configDir: string,
): string =>
  files.directory === undefined ? resolve(configDir, dirname(path), 'files') : resolve(configDir, files.directory)

/** Loaded with the first content, because many servers have none. */
function lazyMemory(deps: Pick<OpenBlobs, 'clock' | 'digest'>): BlobStore {
  let opening: Promise<BlobStore> | undefined
  const open = () => {
    opening ??= import('@perdure/in-memory').then(({ createInMemoryBlobStore }) => createInMemoryBlobStore(deps))
    return opening
  }
  return {
    put: async (chunks) => (await open()).put(chunks),
    read: async (sha256, range) => (await open()).read(sha256, range),
    async *list(before) {
      if (opening !== undefined) yield* (await opening).list(before)
    },
    delete: async (sha256, before) => (await open()).delete(sha256, before),
    discard: async () => 0,
  }
}
