import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { StartError } from '@perdure/ports'
import type Database from 'better-sqlite3'
import { type BlobCopies, blobCopiesOf, blobProblems, copyBlobs } from './blob-copies.ts'
import { checkDatabase, type DatabaseCheck } from './check-database.ts'
import type { Encryption } from './encryption.ts'
import { inspectDatabase } from './inspect-database.ts'
import { databaseOpener } from './open-database.ts'
import { createPrivateFile, fileSize, preparePath } from './private-file.ts'
import { replaceFile, sha256OfFile } from './replace-file.ts'
import { requireSingleName } from './single-name.ts'
import { corruptError, translateStartError } from './sqlite-error.ts'

/** The database file of the audit log, if the audit log has its own file. A backup copies it to `<copy>.audit`. */
export interface AuditFile {
  readonly path: string
  readonly encryption?: Encryption | undefined
}

export interface BackupOptions {
  /** Path of the copy; no file may exist there. */
  readonly out: string
  readonly encryption?: Encryption | undefined
  readonly audit?: AuditFile | undefined
  /** The folder with the contents of large files, copied to the folder `<copy>.files`; missing if a bucket holds them. */
  readonly files?: string | undefined
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined
}

/** One file of a backup. */
export interface BackupPart {
  readonly file: string // file name without directory
  readonly bytes: number
  readonly sha256: string // of the file as stored, lower-case hex
}

/** The manifest of a backup, stored as `<copy>.json`. */
export interface BackupManifest extends BackupPart {
  readonly format: 1
  readonly createdAt: string // ISO-8601
  readonly schemaVersion: number
  readonly isEncrypted: boolean
  readonly audit?: BackupPart | undefined
  readonly files?: BlobCopies | undefined
}

/**
 * Copies a consistent snapshot of the database, even while a server writes to it. The copy of an encrypted file is
 * encrypted with the same passphrase. Each copy gets its final name only after it is complete and flushed, the audit
 * log before the database. An interrupted backup therefore leaves at most a `.partial` file, or an audit log without a
 * database.
 *
 * @throws StartError `storage-corrupt`, `storage-shared`, `encryption-passphrase-wrong`, `config-invalid` when `out`
 *   exists or the database is missing
 */
export async function createBackup(path: string, options: BackupOptions): Promise<BackupManifest> {
  const { encryption, audit, files, now = Date.now } = options
  const source = await openSource({ path, encryption })
  const auditSource = audit === undefined ? undefined : await openSource(audit).catch(closeAndRethrow(source))
  try {
    const out = preparePath(options.out)
    if (existsSync(out)) throw fileExistsError(out)
    const schemaVersion = source.pragma('user_version', { simple: true }) as number
    let auditPart: BackupPart | undefined
    let blobs: BlobCopies | undefined
    // Contents that the server deletes in the meantime are copied before the database, new ones after it.
    if (files !== undefined) copyBlobs(files, blobCopiesOf(out))
    const part = copyInto(source, out, () => {
      // The audit log is copied after the database, so an entry that is being moved to the audit log is in at least one
      // of the two copies.
      auditPart = auditSource && copyInto(auditSource, auditCopyOf(out))
      if (files !== undefined) blobs = { folder: basename(blobCopiesOf(out)), ...copyBlobs(files, blobCopiesOf(out)) }
    })
    const manifest: BackupManifest = {
      ...{ format: 1, ...part },
      ...{ createdAt: new Date(now()).toISOString(), schemaVersion, isEncrypted: encryption !== undefined },
      ...(auditPart === undefined ? {} : { audit: auditPart }),
      ...(blobs === undefined || blobs.files === 0 ? {} : { files: blobs }),
    }
    replaceFile(manifestPath(out), (temporary) =>
      writeFileSync(temporary, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 }),
    )
    return manifest
  } catch (error) {
    throw translateStartError(error, path)
  } finally {
    for (const database of [source, auditSource]) database?.close()
  }
}

async function openSource({ path, encryption }: AuditFile): Promise<Database.Database> {
  const open = await databaseOpener(encryption)
  if (fileSize(path) === 0) throw missingError(path)
  requireSingleName(path)
  inspectDatabase(path, { checkAfterCrash: false, open })
  return open(path, { readonly: true, fileMustExist: true })
}

const closeAndRethrow = (database: Database.Database) => (error: unknown) => {
  database.close()
  throw error
}

/** Calls `then` after the copy is complete and before it gets its final name. */
function copyInto(source: Database.Database, out: string, then?: () => void): BackupPart {
  let part: BackupPart = { file: basename(out), bytes: 0, sha256: '' }
  replaceFile(out, (temporary) => {
    createPrivateFile(temporary)
    source.prepare('VACUUM INTO ?').run(temporary)
    part = { ...part, bytes: fileSize(temporary), sha256: sha256OfFile(temporary) }
    then?.()
  })
  return part
}

export const auditCopyOf = (copy: string): string => `${copy}.audit`

/** The result of verifying a backup. The backup can be restored if `problems` is empty. */
export interface BackupCheck {
  readonly problems: readonly string[]
  /** `undefined` if the backup has no manifest. */
  readonly manifest: BackupManifest | undefined
  readonly database: DatabaseCheck | undefined
}

export interface VerifyBackupOptions extends Pick<BackupOptions, 'encryption'> {
  /** Encryption of the copied audit log. If omitted, the audit log is compared with the manifest but not read. */
  readonly auditEncryption?: Encryption | undefined
  /** Whether the contents of large files are beside the copy. False if they are in a bucket. Default: true. */
  readonly hasContents?: boolean | undefined
}

/** Compares a backup with its manifest, then reads the whole database and audit log. Changes nothing. */
export async function verifyBackup(copy: string, options: VerifyBackupOptions = {}): Promise<BackupCheck> {
  if (fileSize(copy) === 0) throw missingError(copy)
  const manifest = readManifest(copy)
  const { encryption, auditEncryption, hasContents = true } = options
  const differences = manifest === undefined ? [] : differencesFrom(manifest, copy)
  const found = await verifyDatabase(copy, { encryption })
  const ofAudit = await auditProblems(auditCopyOf(copy), manifest?.audit, auditEncryption)
  const ofBlobs = found.database === undefined || !hasContents ? [] : await blobProblems(copy, encryption)
  return { ...found, problems: [...differences, ...found.problems, ...ofAudit, ...ofBlobs], manifest }
}

async function auditProblems(
  copy: string,
  part: BackupPart | undefined,
  encryption: Encryption | undefined,
): Promise<readonly string[]> {
  if (part === undefined) return []
  if (!existsSync(copy)) return [`the audit log ${part.file} of the backup is missing`]
  const differences = differencesFrom(part, copy)
  const isReadable = differences.length === 0 && encryption !== undefined
  const { problems } = isReadable ? await verifyDatabase(copy, { encryption }) : { problems: differences }
  return problems.map((problem) => `audit log: ${problem}`)
}

/** Reads a whole database file. An unreadable file is reported as a problem, not thrown. Changes nothing. */
export async function verifyDatabase(
  path: string,
  { encryption }: Pick<BackupOptions, 'encryption'> = {},
): Promise<Omit<BackupCheck, 'manifest'>> {
  if (fileSize(path) === 0) throw missingError(path)
  try {
    const database = await checkDatabase(path, { encryption })
    return { problems: problemsOf(database), database }
  } catch (error) {
    if (!(error instanceof StartError) || error.kind !== 'storage-corrupt') throw error
    return { problems: [error.message], database: undefined }
  }
}

function problemsOf(check: DatabaseCheck): readonly string[] {
  const { integrity, foreignKeys, audit } = check
  return [
    ...integrity.map((finding) => `integrity: ${finding}`),
    ...foreignKeys.map((row) => `foreign key: ${row} refers to a missing row`),
    ...(audit.firstBadSeq === undefined ? [] : [`audit chain: entry ${audit.firstBadSeq} is missing or altered`]),
  ]
}

const manifestPath = (copy: string): string => `${copy}.json`

function readManifest(copy: string): BackupManifest | undefined {
  const path = manifestPath(copy)
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as BackupManifest
  } catch (error) {
    throw corruptError(path, error)
  }
}

function differencesFrom({ bytes, sha256 }: BackupPart, copy: string): readonly string[] {
  if (fileSize(copy) !== bytes) return [`the copy has ${fileSize(copy)} bytes; its manifest says ${bytes}`]
  return sha256OfFile(copy) === sha256 ? [] : ['the SHA-256 of the copy differs from its manifest']
}

const missingError = (path: string): StartError =>
  new StartError('config-invalid', {
    message: `There is no database at ${path}.`,
    hint: 'Check storage.path, or pass the path of the file.',
  })

const fileExistsError = (out: string): StartError =>
  new StartError('config-invalid', {
    message: `The file ${out} already exists.`,
    hint: 'Choose another file with --out, or move the existing file away.',
  })
