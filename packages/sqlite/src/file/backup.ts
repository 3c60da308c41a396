import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { StartError } from '@perdure/ports'
import type Database from 'better-sqlite3'
import { checkDatabase, type DatabaseCheck } from './check-database.ts'
import type { Encryption } from './encryption.ts'
import { inspectDatabase } from './inspect-database.ts'
import { databaseOpener } from './open-database.ts'
import { createPrivateFile, fileSize, preparePath } from './private-file.ts'
import { replaceFile, sha256OfFile } from './settled-file.ts'
import { corruptError, translateStartError } from './sqlite-error.ts'

/** The audit log, where it is a file of its own: it goes with the database, as `<copy>.audit`. */
export interface AuditFile {
  readonly path: string
  readonly encryption?: Encryption | undefined
}

export interface BackupOptions {
  /** Where the copy goes; nothing may be there. */
  readonly out: string
  readonly encryption?: Encryption | undefined
  readonly audit?: AuditFile | undefined
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined
}

/** One file of a copy. */
export interface BackupPart {
  readonly file: string // its name
  readonly bytes: number
  readonly sha256: string // of the file as it lies there, lower-case hex
}

/** What lies beside a copy as `<copy>.json`. */
export interface BackupManifest extends BackupPart {
  readonly format: 1
  readonly createdAt: string // ISO-8601
  readonly schemaVersion: number
  readonly isEncrypted: boolean
  readonly audit?: BackupPart | undefined
}

/**
 * Copies the database as it is at one instant, also beside a running server and under load; an encrypted one stays
 * encrypted with its passphrase. The copy is complete and flushed before it gets its name, its audit log before it: one that
 * was interrupted leaves at most a file that ends in `.partial`, or an audit log without a database.
 *
 * @throws StartError `storage-corrupt`, `encryption-passphrase-wrong`, `config-invalid` when `out` is taken or the file is missing
 */
export async function createBackup(path: string, options: BackupOptions): Promise<BackupManifest> {
  const { encryption, audit, now = Date.now } = options
  const source = await openSource({ path, encryption })
  const auditSource = audit === undefined ? undefined : await openSource(audit).catch(closing(source))
  try {
    const out = preparePath(options.out)
    if (existsSync(out)) throw takenError(out)
    const schemaVersion = source.pragma('user_version', { simple: true }) as number
    let auditPart: BackupPart | undefined
    const part = copyInto(source, out, () => {
      // After the database: what is on its way from there to the audit log may be in both, and is never in neither.
      auditPart = auditSource && copyInto(auditSource, auditCopyOf(out))
    })
    const manifest: BackupManifest = {
      ...{ format: 1, ...part },
      ...{ createdAt: new Date(now()).toISOString(), schemaVersion, isEncrypted: encryption !== undefined },
      ...(auditPart === undefined ? {} : { audit: auditPart }),
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
  inspectDatabase(path, { checkAfterCrash: false, open })
  return open(path, { readonly: true, fileMustExist: true })
}

const closing = (database: Database.Database) => (error: unknown) => {
  database.close()
  throw error
}

/** `then` runs once the copy is whole, before it has its name. */
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

/** What is wrong with a copy; `problems` is empty when it can be restored. */
export interface BackupCheck {
  readonly problems: readonly string[]
  /** `undefined` when there is none beside the copy. */
  readonly manifest: BackupManifest | undefined
  readonly database: DatabaseCheck | undefined
}

export interface VerifyBackupOptions extends Pick<BackupOptions, 'encryption'> {
  /** Of the audit log that goes with it; without it that is compared with the manifest, and not read. */
  readonly auditEncryption?: Encryption | undefined
}

/** Compares a copy with its manifest and reads all of it, with the audit log that goes with it. Changes nothing. */
export async function verifyBackup(copy: string, options: VerifyBackupOptions = {}): Promise<BackupCheck> {
  if (fileSize(copy) === 0) throw missingError(copy)
  const manifest = readManifest(copy)
  const { encryption, auditEncryption } = options
  const differences = manifest === undefined ? [] : differencesFrom(manifest, copy)
  const found = await verifyDatabase(copy, { encryption })
  const ofAudit = await auditProblems(auditCopyOf(copy), manifest?.audit, auditEncryption)
  return { ...found, problems: [...differences, ...found.problems, ...ofAudit], manifest }
}

async function auditProblems(
  copy: string,
  part: BackupPart | undefined,
  encryption: Encryption | undefined,
): Promise<readonly string[]> {
  if (part === undefined) return []
  if (!existsSync(copy)) return [`the audit log ${part.file} that goes with the copy is not there`]
  const differences = differencesFrom(part, copy)
  const isReadable = differences.length === 0 && encryption !== undefined
  const { problems } = isReadable ? await verifyDatabase(copy, { encryption }) : { problems: differences }
  return problems.map((problem) => `audit log: ${problem}`)
}

/** Reads all of a database file; one that cannot be read at all is a problem too. Changes nothing. */
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

/** In words. */
function problemsOf(check: DatabaseCheck): readonly string[] {
  const { integrity, foreignKeys, audit } = check
  return [
    ...integrity.map((finding) => `integrity: ${finding}`),
    ...foreignKeys.map((row) => `foreign key: ${row} refers to nothing`),
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
  if (fileSize(copy) !== bytes) return [`the copy has ${fileSize(copy)} bytes, its manifest says ${bytes}`]
  return sha256OfFile(copy) === sha256 ? [] : ['the copy is not the one its manifest describes: its SHA-256 differs']
}

const missingError = (path: string): StartError =>
  new StartError('config-invalid', {
    message: `There is no database at ${path}.`,
    hint: 'Check storage.path, or name the file.',
  })

const takenError = (out: string): StartError =>
  new StartError('config-invalid', {
    message: `${out} exists already and was left as it is.`,
    hint: 'Name another file with --out, or move this one away.',
  })
