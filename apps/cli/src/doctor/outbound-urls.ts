import type { ServerConfig } from '@perdure/protocol'
import { bucketEndpoint } from '@perdure/server-app/admin'
import { keySetUrls } from './check-issuers.ts'

/** Where the server connects to by its configuration: the keys of issuers, and the bucket of files. */
export const outboundUrls = ({ auth, storage }: ServerConfig): readonly string[] => [
  ...keySetUrls({ auth }),
  ...(storage.files.s3.bucket === undefined ? [] : [bucketEndpoint(storage)]),
]
