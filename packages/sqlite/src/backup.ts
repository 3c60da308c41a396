import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { StartError } from '@berth/ports'
import { checkDatabase, type DatabaseCheck } from './check-database.ts'
import { inspectDatabase } from './inspect-database.ts'
import { databaseOpener, type Encryption } from './open-database.ts'
import { createPrivateFile, fileSize, preparePath } from './private-file.ts'
import { replaceFile, sha256OfFile } from './settled-file.ts'
import { corruptError, translateStartError } from './sqlite-error.ts'

export interface BackupOptions {
  /** Where the copy goes; nothing may be there. */
  readonly out: string
  readonly encryption?: Encryption | undefined
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined
}

/** What lies beside a copy as `<copy>.json`. */
export interface BackupManifest {
  readonly format: 1
  readonly file: string // name of the copy
  readonly bytes: number
  readonly sha256: string // of the copy as it lies there, lower-case hex
  readonly createdAt: string // ISO-8601
  readonly schemaVersion: number
  readonly isEncrypted: boolean
}

/**
 * Copies the database as it is at one instant, also beside a running server and under load; an encrypted one stays
 * encrypted with its passphrase. The copy is complete and flushed before it gets its name: one that was interrupted
 * leaves at most a file that ends in `.partial`.
 *
 * @throws StartError `storage-corrupt`, `encryption-passphrase-wrong`, `config-invalid` when `out` is taken or the file is missing
 */
export async function createBackup(path: string, options: BackupOptions): Promise<BackupManifest> {
  const { encryption, now = Date.now } = options
  const open = await databaseOpener(encryption)
  if (fileSize(path) === 0) throw missingError(path)
  inspectDatabase(path, { checkAfterCrash: false, open })
  const out = preparePath(options.out)
  if (existsSync(out)) throw takenError(out)
  const database = open(path, { readonly: true, fileMustExist: true })
  try {
    let copied = { bytes: 0, sha256: '' }
    const schemaVersion = database.pragma('user_version', { simple: true }) as number
    replaceFile(out, (temporary) => {
      createPrivateFile(temporary)
      database.prepare('VACUUM INTO ?').run(temporary)
      copied = { bytes: fileSize(temporary), sha256: sha256OfFile(temporary) }
    })
    const manifest: BackupManifest = {
      ...{ format: 1, file: basename(out), ...copied },
      ...{ createdAt: new Date(now()).toISOString(), schemaVersion, isEncrypted: encryption !== undefined },
    }
    replaceFile(manifestPath(out), (temporary) =>
      writeFileSync(temporary, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 }),
    )
    return manifest
  } catch (error) {
    throw translateStartError(error, path)
  } finally {
    database.close()
  }
}

/** What is wrong with a copy; `problems` is empty when it can be restored. */
export interface BackupCheck {
  readonly problems: readonly string[]
  /** `undefined` when there is none beside the copy. */
  readonly manifest: BackupManifest | undefined
  readonly database: DatabaseCheck | undefined
}

/** Compares a copy with its manifest and reads all of it. Changes nothing. */
export async function verifyBackup(
  copy: string,
  { encryption }: Pick<BackupOptions, 'encryption'> = {},
): Promise<BackupCheck> {
  if (fileSize(copy) === 0) throw missingError(copy)
  const manifest = readManifest(copy)
  const problems = manifest === undefined ? [] : differencesFrom(manifest, copy)
  const found = await verifyDatabase(copy, { encryption })
  return { ...found, problems: [...problems, ...found.problems], manifest }
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

function differencesFrom({ bytes, sha256 }: BackupManifest, copy: string): readonly string[] {
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
