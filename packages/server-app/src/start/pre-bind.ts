import { nodeDigest } from '@perdure/platform-node'
import { type AuditKeys, type JwtKeys, NO_AUDIT_KEY, StartError } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { checkEncryptionPeer, type Encryption } from '@perdure/sqlite'
import {
  jwtKeyField,
  type ResolvedReferences,
  type ResolveReferencesDeps,
  resolveReferences,
  type SecretsHealth,
} from './resolve-references.ts'

/** The secrets that pre-bind validation resolves. */
export interface Secrets {
  /** The current pepper, then previous ones; empty with `auth.kind: 'none'`. */
  readonly peppers: readonly Uint8Array[]
  /** The secrets that seal stored answers, newest first: the peppers, also with `auth.kind: 'none'`. */
  readonly sealSecrets: readonly Uint8Array[]
  readonly auditKeys: AuditKeys
  /** `undefined` if the database file or the audit file is not encrypted. */
  readonly storageEncryption: Encryption | undefined
  /** `undefined` if the storage is a file. */
  readonly database: DatabaseAccess | undefined
  readonly auditEncryption: Encryption | undefined
  /** The keys of the issuers in `auth.jwt`, in that order. */
  readonly jwtKeys: readonly JwtKeys[]
  /** The secret of the key of the bucket that holds files; `undefined` without a bucket. */
  readonly bucketSecret: string | undefined
  /** The secret of the server as a client of `console.oidc.issuer`; `undefined` for a public client. */
  readonly clientSecret: string | undefined
  readonly health: SecretsHealth
}

/** How the server reaches its PostgreSQL database. */
export interface DatabaseAccess {
  readonly url: string
  /** A URL of the same server that does not lead through a connection pooler. */
  readonly listenUrl?: string | undefined
  /** The authority that signed the certificate of the server, in PEM. */
  readonly ca?: string | undefined
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])
const KEY_BYTES = 32

/**
 * Checks the configuration before anything is opened: contradictions, every secret reference, and, if encryption is
 * enabled, that the encryption package is installed.
 *
 * @throws StartError `config-invalid`, `pepper-missing`, `pepper-weak`, `secret-unresolvable`, `encryption-peer-missing`,
 *   `encryption-passphrase-missing`
 */
export async function validateBeforeBind(config: ServerConfig, deps: ResolveReferencesDeps): Promise<Secrets> {
  checkBinding(config)
  checkBucket(config)
  const references = await resolveReferences(config, deps)
  const sealSecrets =
    config.auth.pepperRef === undefined && config.auth.kind === 'none' ? [] : peppersOf(config, references)
  const peppers = config.auth.kind === 'none' ? [] : sealSecrets
  const storageEncryption = encryptionOf('storage.encryption', config.storage.encryption.enabled, references)
  const hasAuditFile = config.audit.enabled && config.storage.kind === 'sqlite'
  const auditEncryption = encryptionOf('audit', hasAuditFile, references)
  if (storageEncryption !== undefined || auditEncryption !== undefined) await checkEncryptionPeer()
  const auditKeys = auditKeysOf(references.secretOf('audit.keyRef'), peppers)
  const database = databaseOf(config, references)
  const { health } = references
  const jwtKeys = jwtKeysOf(config, references)
  const bucketSecret = bucketSecretOf(config, references)
  return {
    peppers,
    sealSecrets,
    auditKeys,
    storageEncryption,
    database,
    auditEncryption,
    jwtKeys,
    bucketSecret,
    clientSecret: textOf(references.secretOf('console.oidc.clientSecretRef')),
    health,
  }
}

const jwtKeysOf = ({ auth }: ServerConfig, { secretOf }: ResolvedReferences): readonly JwtKeys[] =>
  auth.jwt.map(({ keys }, index) =>
    'jwksUrl' in keys ? { url: keys.jwksUrl } : { bytes: secretOf(jwtKeyField(index)) ?? new Uint8Array() },
  )

export function bucketSecretOf({ storage }: ServerConfig, { secretOf }: ResolvedReferences): string | undefined {
  return storage.files.s3.bucket === undefined ? undefined : textOf(secretOf('storage.files.s3.secretAccessKeyRef'))
}

const textOf = (secret: Uint8Array | undefined): string | undefined =>
  secret === undefined ? undefined : new TextDecoder().decode(secret).trim()

/** The configured PostgreSQL database; `undefined` if the storage is a file. */
export function databaseOf({ storage }: ServerConfig, { secretOf }: ResolvedReferences): DatabaseAccess | undefined {
  if (storage.kind === 'sqlite') return undefined
  const text = (field: string) => textOf(secretOf(field))
  const listenUrl = text('storage.listenUrlRef')
  return { url: text('storage.urlRef') ?? '', listenUrl, ca: text('storage.tls.caRef') }
}

function checkBinding({ auth, server }: ServerConfig): void {
  if (auth.kind !== 'none' || LOOPBACK.has(server.host) || auth.allowNoneOnNetwork) return
  throw new StartError('config-invalid', {
    message: `auth.kind none gives full access to anyone who can reach ${server.host}`,
    hint: 'set server.host to 127.0.0.1 or auth.kind to token; if a proxy authenticates requests, set auth.allowNoneOnNetwork',
  })
}

function checkBucket({ storage }: ServerConfig): void {
  const { bucket, endpoint, accessKeyId, secretAccessKeyRef } = storage.files.s3
  const given = Object.entries({ endpoint, accessKeyId, secretAccessKeyRef }).filter(([, value]) => value !== undefined)
  if (bucket === undefined && given.length > 0) {
    throw new StartError('config-invalid', {
      message: `storage.files.s3.bucket: missing, but ${given.map(([name]) => name).join(', ')} is set`,
      hint: 'set storage.files.s3.bucket, or remove storage.files.s3',
    })
  }
  if (bucket === undefined || (accessKeyId !== undefined && secretAccessKeyRef !== undefined)) return
  throw new StartError('config-invalid', {
    message: `storage.files.s3.${accessKeyId === undefined ? 'accessKeyId' : 'secretAccessKeyRef'}: missing, but bucket is set`,
    hint: 'set the id of a key, and secretAccessKeyRef to a secret reference such as env:S3_SECRET_ACCESS_KEY',
  })
}

function peppersOf({ auth }: ServerConfig, { secretOf }: ResolvedReferences): readonly Uint8Array[] {
  if (auth.pepperRef === undefined) {
    throw new StartError('pepper-missing', {
      message: 'auth.pepperRef is not set, but auth.kind token needs a pepper',
      hint: 'run: perdure secrets generate pepper --out file:./secrets/pepper, then set auth.pepperRef (or PERDURE_AUTH_PEPPER_REF) to file:./secrets/pepper',
    })
  }
  const fields = ['auth.pepperRef', ...auth.previousPepperRefs.map((_, index) => `auth.previousPepperRefs.${index}`)]
  return fields.map((field) => {
    const bytes = secretOf(field) ?? new Uint8Array()
    if (bytes.length >= KEY_BYTES) return bytes
    throw new StartError('pepper-weak', {
      message: `${field} has ${bytes.length} bytes; a pepper needs at least ${KEY_BYTES}`,
      hint: 'generate a new one: perdure secrets generate pepper',
    })
  })
}

/** @throws StartError `encryption-passphrase-missing` */
export function encryptionOf(
  section: string,
  isEnabled: boolean,
  { secretOf }: ResolvedReferences,
): Encryption | undefined {
  if (!isEnabled) return undefined
  const passphrase = secretOf(`${section}.passphraseRef`)
  if (passphrase !== undefined) return { passphrase }
  throw new StartError('encryption-passphrase-missing', {
    message: `${section}.enabled needs a passphrase, but ${section}.passphraseRef is not set`,
    hint: `set ${section}.passphraseRef to a secret reference such as env:NAME or file:path`,
  })
}

/**
 * Uses the key in `audit.keyRef`, otherwise one derived from the pepper. Previous keys can still verify older entries.
 * Without any key, entries carry only checksums.
 */
function auditKeysOf(key: Uint8Array | undefined, peppers: readonly Uint8Array[]): AuditKeys {
  if (key !== undefined && key.length < KEY_BYTES) {
    throw new StartError('config-invalid', {
      message: `audit.keyRef has ${key.length} bytes; a key needs at least ${KEY_BYTES}`,
      hint: 'generate a new one: openssl rand -base64 32',
    })
  }
  const secrets = key === undefined ? peppers : [key, ...peppers]
  const [current, ...previous] = secrets.map((secret) => nodeDigest.deriveKey(secret, 'perdure/audit/v1'))
  return current === undefined ? NO_AUDIT_KEY : [current, ...previous]
}
