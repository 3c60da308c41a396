import { StartError } from '@perdure/ports'
import type { PostgresStorageOptions } from '../postgres-storage-options.ts'

export interface ServerOptions {
  readonly url: string
  readonly schema: string
  readonly statementTimeoutMs: number
  /** Certificate, in PEM, of the authority that signed the certificate of the server. */
  readonly ca?: string | undefined
  /** Whether a connection sends a statement before it has the result of the one before. */
  readonly pipeline: boolean
}

const MIN_POOL_SIZE = 5

/** @throws StartError `config-invalid` */
export function serverOptions(options: PostgresStorageOptions): ServerOptions {
  const {
    url,
    schema = 'perdure',
    poolSize = MIN_POOL_SIZE,
    statementTimeoutMs = 10_000,
    pipeline = true,
    ca,
  } = options
  if (poolSize < MIN_POOL_SIZE) {
    throw new StartError('config-invalid', {
      message: `A pool of ${poolSize} connections is too small.`,
      hint: `Set storage.poolSize to ${MIN_POOL_SIZE} or more.`,
    })
  }
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw new StartError('config-invalid', {
      message: `The name of the schema, ${schema}, is not valid.`,
      hint: 'Use up to 48 lower-case letters, digits and underscores, starting with a letter.',
    })
  }
  return { url, schema, statementTimeoutMs, pipeline, ca }
}
