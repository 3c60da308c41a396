import { StartError } from '@perdure/ports'
import { type ServerConfig, ServerConfigSchema } from '@perdure/protocol'
import * as v from 'valibot'
import { valueAt } from './config-value.ts'

const SQLITE_FIELDS = [
  'storage.path',
  'storage.mode',
  'storage.synchronous',
  'storage.minFreeBytes',
  'storage.encryption.enabled',
  'storage.encryption.passphraseRef',
  'audit.path',
  'audit.passphraseRef',
] as const

const POSTGRES_FIELDS = [
  'storage.urlRef',
  'storage.schema',
  'storage.poolSize',
  'storage.statementTimeoutMs',
  'storage.commitWaitMs',
  'storage.listen',
  'storage.listenUrlRef',
  'storage.cluster',
  'storage.leaseMs',
  'storage.requireSyncStandby',
  'storage.tls.caRef',
] as const

/**
 * Checks that no field of the other kind of storage differs from its default, so that no field is ignored, and that a
 * shared database has what it needs.
 *
 * @throws StartError `config-invalid` that names the fields, `pepper-missing`
 */
export function checkStorageFields(config: ServerConfig): void {
  const { storage, auth, audit } = config
  const { kind } = storage
  const defaults = v.parse(ServerConfigSchema, {})
  const isSet = (path: string) => valueAt(config, path) !== valueAt(defaults, path)
  const foreign = (kind === 'sqlite' ? POSTGRES_FIELDS : SQLITE_FIELDS).filter(isSet)
  if (foreign.length > 0) {
    throw new StartError('config-invalid', {
      message: `${foreign.join(', ')}: set, but storage.kind is ${kind}`,
      hint:
        kind === 'sqlite'
          ? 'set storage.kind to postgres, or remove the fields'
          : 'remove the fields: they apply to a database file; PostgreSQL has settings of its own for them',
    })
  }
  if (kind === 'sqlite') return
  if (storage.urlRef === undefined) {
    throw new StartError('config-invalid', {
      message: 'storage.urlRef: missing, but storage.kind is postgres',
      hint: 'set storage.urlRef to a secret reference, such as env:DATABASE_URL, to a URL such as postgres://perdure@db.internal/perdure',
    })
  }
  if (storage.cluster && audit.enabled) {
    throw new StartError('config-invalid', {
      message: 'audit.enabled: only one server can write the audit log of all requests, but storage.cluster is set',
      hint: 'set audit.enabled to false; the audit chain of the main database still records privileged actions',
    })
  }
  if (auth.pepperRef === undefined) {
    throw new StartError('pepper-missing', {
      message: 'auth.pepperRef is not set, but storage.kind postgres needs a pepper, also with auth.kind none',
      hint: 'run: perdure secrets generate pepper --out file:./secrets/pepper, then set auth.pepperRef (or PERDURE_AUTH_PEPPER_REF) to file:./secrets/pepper',
    })
  }
}
