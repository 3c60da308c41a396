import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, rmSync } from 'node:fs'
import { StartError } from '@perdure/ports'
import { type AuditFile, auditCopyOf, type BackupOptions, verifyBackup } from './backup.ts'
import { openConnection } from './connection.ts'
import { type Lease, takeLease } from './lease.ts'
import { databaseOpener, type OpenDatabase } from './open-database.ts'
import { preparePath } from './private-file.ts'
import { copyTo, replaceFile } from './replace-file.ts'
import { translateStartError } from './sqlite-error.ts'

export interface RestoreResult {
  /** Where the previous database is kept; `undefined` if there was none. */
  readonly kept: string | undefined
  /** The restored audit log and where its previous file is kept; `undefined` if no audit log was restored. */
  readonly audit?: { readonly path: string; readonly kept: string | undefined } | undefined
}

export interface RestoreOptions extends Omit<BackupOptions, 'out'> {
  readonly path: string
}

/**
 * Atomically replaces the database with a backup, and the file `audit` with the audit log of that backup. The previous
 * files are kept in the same directory. The restored database gets a new epoch, so that a client that has seen later
 * events is notified of the gap.
 *
 * @throws StartError `storage-locked` while a server holds a file; `storage-corrupt` for a backup that fails
 *   verification
 */
export async function restoreBackup(copy: string, options: RestoreOptions): Promise<RestoreResult> {
  const { path, encryption, audit, now = Date.now } = options
  const leases: Lease[] = [takeLease(preparePath(path))]
  try {
    const { problems, manifest } = await verifyBackup(copy, { encryption, auditEncryption: audit?.encryption })
    if (problems.length > 0) throw badCopyError(copy, problems)
    if (audit === undefined || manifest?.audit === undefined) {
      return { kept: await replaceDatabase(copy, { path, encryption, now }) }
    }
    leases.push(takeLease(preparePath(audit.path)))
    const auditKept = await replaceDatabase(auditCopyOf(copy), { ...audit, now })
    const kept = await replaceDatabase(copy, { path, encryption, now })
    return { kept, audit: { path: audit.path, kept: auditKept } }
  } finally {
    for (const lease of leases) lease.release()
  }
}

async function replaceDatabase(
  copy: string,
  { path, encryption, now }: AuditFile & { readonly now: () => number },
): Promise<string | undefined> {
  const open = await databaseOpener(encryption)
  const target = preparePath(path)
  try {
    const kept = existsSync(target) ? keepPrevious(target, { open, now }) : undefined
    replaceFile(target, (temporary) => {
      copyTo(copy)(temporary)
      assignNewEpoch(temporary, open)
    })
    return kept
  } catch (error) {
    throw translateStartError(error, target)
  }
}

/**
 * Keeps the previous file under a second name. It uses a hard link, so an interruption cannot leave `target` missing.
 */
function keepPrevious(
  target: string,
  { open, now }: { readonly open: OpenDatabase; readonly now: () => number },
): string {
  const kept = `${target}.before-restore-${new Date(now()).toISOString().replaceAll(/[-:.]/g, '')}`
  mergeWal(target, open)
  linkSync(target, kept)
  if (existsSync(`${target}-wal`)) linkSync(`${target}-wal`, `${kept}-wal`)
  // SQLite must not replay the old WAL into the new file.
  for (const suffix of ['-wal', '-shm']) rmSync(`${target}${suffix}`, { force: true })
  return kept
}

/** Moves the WAL into the file. Best effort: if the file is damaged, `keepPrevious` keeps its WAL too. */
function mergeWal(target: string, open: OpenDatabase): void {
  try {
    const { database } = openConnection(target, { open })
    database.pragma('wal_checkpoint(TRUNCATE)')
    database.close()
  } catch {}
}

function assignNewEpoch(path: string, open: OpenDatabase): void {
  const database = open(path)
  try {
    database.prepare("UPDATE meta SET value = ? WHERE name = 'epoch'").run(randomBytes(8).toString('hex'))
    database.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    database.close()
  }
}

const badCopyError = (copy: string, problems: readonly string[]): StartError =>
  new StartError('storage-corrupt', {
    message: `The backup ${copy} cannot be restored: ${problems[0]}.`,
    hint: 'Use another backup; `perdure backup verify` lists every problem of this backup. Nothing was changed.',
  })
