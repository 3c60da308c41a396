import * as v from 'valibot'
import { field, optionalField, section } from './section.ts'
import { boolean, bytes, count, milliseconds, SecretReference } from './values.ts'

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const ENDPOINT = /^https?:\/\/[^\s/?#@\\]+(?:\/[^\s?#@\\]*)?$/
const PREFIX = /^(?:[A-Za-z0-9._-]+\/)*$/

export const StorageSection = section({
  kind: field(v.picklist(['sqlite', 'postgres']), 'sqlite', {
    note: 'sqlite: one database file beside the server; postgres: a schema on a PostgreSQL server, which needs the package @perdure/postgres and urlRef.',
  }),
  path: field(v.pipe(v.string(), v.minLength(1)), './.graphorin/data.db', {
    note: 'Path of the database file. Its folder holds everything that Perdure stores. The name .graphorin comes from the published interface. Only with kind sqlite.',
  }),
  mode: field(v.picklist(['server', 'lib']), 'server', {
    note: 'server: the process owns the file exclusively; lib: no exclusive lock, so other processes may open the file too. Only with kind sqlite.',
  }),
  synchronous: field(v.picklist(['full', 'normal']), 'full', {
    note: 'full: commits survive a power loss; normal: commits survive a crash of the process. Only with kind sqlite.',
  }),
  minFreeBytes: field(bytes, 104_857_600, {
    note: 'Free disk space below which the storage check warns and health becomes degraded, in bytes. Only with kind sqlite.',
  }),
  encryption: section({
    enabled: field(boolean, false, {
      note: 'Encrypt the database file; needs the package better-sqlite3-multiple-ciphers and passphraseRef. Only with kind sqlite.',
    }),
    passphraseRef: optionalField(SecretReference, {
      note: 'Secret reference to the passphrase of the database file. Only with kind sqlite.',
    }),
  }),
  files: section({
    directory: optionalField(v.pipe(v.string(), v.minLength(1)), {
      note: 'Folder that holds the contents of files above 64 KiB; when not set, the folder `files` beside storage.path. The servers of a cluster must share it. With s3.bucket, it only holds contents while they are uploaded.',
    }),
    s3: section({
      bucket: optionalField(v.pipe(v.string(), v.regex(BUCKET, 'must be the name of a bucket')), {
        note: 'Bucket that holds the contents of files above 64 KiB; needs the package aws4fetch, accessKeyId and secretAccessKeyRef.',
      }),
      endpoint: optionalField(v.pipe(v.string(), v.regex(ENDPOINT, 'must be an http: or https: URL without a query')), {
        note: 'URL of a service that speaks the protocol of S3, such as http://minio:9000; when not set, that of Amazon S3 in the region.',
      }),
      region: field(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/, 'must be a region')), 'us-east-1', {
        note: 'Region of the bucket, which requests are signed for.',
      }),
      prefix: field(v.pipe(v.string(), v.regex(PREFIX, 'must be empty, or a path that ends with /')), '', {
        note: 'Beginning of the keys of all objects, such as perdure/.',
      }),
      accessKeyId: optionalField(v.pipe(v.string(), v.minLength(1)), {
        note: 'Id of the key that may put, get, delete and list the objects of the bucket.',
      }),
      secretAccessKeyRef: optionalField(SecretReference, { note: 'Secret reference to the secret of that key.' }),
    }),
  }),
  urlRef: optionalField(SecretReference, {
    note: 'Secret reference to the connection URL of the primary server, such as postgres://perdure@db.internal/perdure. Required with kind postgres.',
  }),
  schema: field(v.pipe(v.string(), v.regex(SCHEMA_NAME, 'not a valid schema name')), 'perdure', {
    note: 'Schema that holds the tables; created if it is missing. Only with kind postgres.',
  }),
  poolSize: field(count(5), 10, {
    note: 'Maximum number of connections to the database server. Only with kind postgres.',
  }),
  statementTimeoutMs: field(milliseconds(100), 10_000, {
    note: 'Time after which the database server cancels a statement, in milliseconds. Only with kind postgres.',
  }),
  commitWaitMs: field(milliseconds(0), 5_000, {
    note: 'How long a write waits while the database server cannot be reached, before it is refused with 503, in milliseconds. Only with kind postgres.',
  }),
  listen: field(boolean, true, {
    note: 'Whether the server receives notifications (LISTEN) of commits by other processes that use the schema. When false, it polls the log, up to 20 times a second while a caller waits. Only with kind postgres.',
  }),
  listenUrlRef: optionalField(SecretReference, {
    note: 'Secret reference to a direct connection URL of the same database server, for LISTEN; needed when urlRef leads through a connection pooler in transaction mode. Only with kind postgres.',
  }),
  cluster: field(boolean, false, {
    note: 'Whether several servers may use the schema at the same time; must be the same on all of them. Only with kind postgres.',
  }),
  leaseMs: field(milliseconds(3_000), 6_000, {
    note: 'In a cluster: time after which the lease of a server that does not renew it expires, and other servers take over its runs, in milliseconds. Only with kind postgres.',
  }),
  requireSyncStandby: field(boolean, false, {
    note: 'Whether the server is ready only while a synchronous standby is connected to the database server. Only with kind postgres.',
  }),
  tls: section({
    caRef: optionalField(SecretReference, {
      note: 'Secret reference to the certificate, in PEM, of the authority that signed the certificate of the database server; when not set, the authorities of Node.js are trusted. Only with kind postgres.',
    }),
  }),
})
