import type { ServerConfig } from '@perdure/protocol'
import { bucketEndpoint, inspectBucket } from '@perdure/server-app/admin'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, failFrom, ok } from './finding.ts'

/** Checks that the bucket of files answers, without changing anything. */
export async function checkBucket(config: ServerConfig, loaded: LoadedConfig): Promise<readonly Finding[]> {
  const { bucket } = config.storage.files.s3
  if (bucket === undefined) return []
  try {
    await inspectBucket(config, loaded)
    return [ok('bucket', `${bucket} answers; outbound: ${bucketEndpoint(config.storage)}`)]
  } catch (error) {
    return [failFrom('bucket', error, 'check storage.files.s3, and that the bucket exists')]
  }
}
