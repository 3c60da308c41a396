import type { EpochMs } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from './adapters.ts'
import { openBlobs } from './open-blobs.ts'
import { bucketSecretOf } from './pre-bind.ts'
import { resolveReferences } from './resolve-references.ts'

const NEVER = 0 as EpochMs

/** Asks the configured bucket for its first objects. @throws StartError; PerdureError `storage-unavailable` */
export async function inspectBucket(
  config: ServerConfig,
  { configDir = process.cwd(), adapters = {} }: Pick<ServerOptions, 'configDir' | 'adapters'> = {},
): Promise<void> {
  const platform = createPlatform(config, configDir, adapters)
  const references = await resolveReferences(config, platform, ['storage.files.s3.secretAccessKeyRef'])
  const secrets = { storageEncryption: undefined, bucketSecret: bucketSecretOf(config, references) }
  const blobs = await openBlobs(config, { ...platform, configDir, secrets })
  for await (const _ of blobs.list(NEVER)) return
}
