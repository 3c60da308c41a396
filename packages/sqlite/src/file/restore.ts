import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { StartError } from '@perdure/ports'
import { type AuditFile, auditCopyOf, type BackupOptions, verifyBackup } from './backup.ts'
import { blobCopiesOf, copyBlobs } from './blob-copies.ts'
import { openConnection } from './connection.ts'
import { type Lease, takeLease } from './lease.ts'
import { databaseOpener, type OpenDatabase } from './open-database.ts'
import { fileSize, fileStamp, preparePath } from './private-file.ts'
import { copyTo, replaceFile } from './replace-file.ts'
import { isKeptCopyOf, isRescueOf, markRestored } from './rescued-copy.ts'
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
 * events is notified of the gap. A copy that a server saved when it lost its files holds every event, so it keeps its
 * epoch; it is renamed after it is restored.
 *
 * @throws StartError `storage-locked` while a server holds a file; `storage-shared` for a file with a second name;
 *   `storage-corrupt` for a backup that fails verification
 */
export async function restoreBackup(copy: string, options: RestoreOptions): Promise<RestoreResult> {
  const { path, encryption, audit, files, now = Date.now } = options
  const lease = takeLease(preparePath(path))
  const leases: Lease[] = [lease]
  try {
    const isRescued = isRescueOf(copy, path)
    // A copy that a server or a command made beside the database has no contents with it: those are still in their folder.
    const hasContents = files !== undefined && !isRescued && !isKeptCopyOf(copy, path)
    const { problems, manifest } = await verifyBackup(copy, {
      ...{ encryption, auditEncryption: audit?.encryption, hasContents },
    })
    if (problems.length > 0) throw badCopyError(copy, problems)
    if (hasContents) copyBlobs(blobCopiesOf(copy), files)
    const main = { path, encryption, now, lease, isRescued }
    if (audit === undefined || manifest?.audit === undefined) {
      const kept = await replaceDatabase(copy, main)
      if (isRescued) markRestored(copy, path)
      return { kept }
    }
    const auditLease = takeLease(preparePath(audit.path))
    leases.push(auditLease)
    const auditKept = await replaceDatabase(auditCopyOf(copy), { ...audit, now, lease: auditLease, isRescued: false })
    const kept = await replaceDatabase(copy, main)
    return { kept, audit: { path: audit.path, kept: auditKept } }
  } finally {
    for (const lease of leases) lease.release()
  }
}

interface Replacement extends AuditFile {
  readonly now: () => number
  readonly lease: Lease
  /** Whether the copy holds every event that clients may have seen. */
  readonly isRescued: boolean
}

async function replaceDatabase(copy: string, replacement: Replacement): Promise<string | undefined> {
  const { path, encryption, now, lease, isRescued } = replacement
  const open = await databaseOpener(encryption)
  const target = preparePath(path)
  try {
    if (existsSync(target)) lease.requireSoleOwner(open)
    const kept = keepPrevious(target, { open, now })
    replaceFile(target, (temporary) => {
      copyTo(copy)(temporary)
      prepareRestored(temporary, { open, keepsEpoch: isRescued })
    })
    return kept
  } catch (error) {
    throw translateStartError(error, target)
  }
}

/**
 * Copies the previous file to a second name. `target` stays in place until it is replaced, so an interruption cannot
 * leave it missing; a hard link would leave it with two names. Returns `undefined` if there is no previous file.
 */
function keepPrevious(
  target: string,
  { open, now }: { readonly open: OpenDatabase; readonly now: () => number },
): string | undefined {
  const kept = `${target}.before-restore-${fileStamp(now())}`
  const hasTarget = existsSync(target)
  if (hasTarget) {
    mergeWal(target, open)
    replaceFile(kept, copyTo(target))
  }
  if (fileSize(`${target}-wal`) > 0) replaceFile(`${kept}-wal`, copyTo(`${target}-wal`))
  // SQLite must not replay the old WAL into the new file.
  for (const suffix of ['-wal', '-shm']) rmSync(`${target}${suffix}`, { force: true })
  return hasTarget ? kept : undefined
}

/** Moves the WAL into the file. Best effort: if the file is damaged, `keepPrevious` keeps its WAL too. */
function mergeWal(target: string, open: OpenDatabase): void {
  try {
    const { database } = openConnection(target, { open })
    database.pragma('wal_checkpoint(TRUNCATE)')
    database.close()
  } catch {}
}

interface Preparation {
  readonly open: OpenDatabase
  readonly keepsEpoch: boolean
}

/** A copy of a database in use looks like one whose server crashed; a verified copy is whole without a log. */
function prepareRestored(path: string, { open, keepsEpoch }: Preparation): void {
  const database = open(path)
  try {
    if (!keepsEpoch) {
      database.prepare("UPDATE meta SET value = ? WHERE name = 'epoch'").run(randomBytes(8).toString('hex'))
    }
    database.prepare("UPDATE meta SET value = '1' WHERE name = 'clean_shutdown'").run()
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
