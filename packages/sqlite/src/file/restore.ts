import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, rmSync } from 'node:fs'
import { StartError } from '@perdure/ports'
import { type AuditFile, auditCopyOf, type BackupOptions, verifyBackup } from './backup.ts'
import { openConnection } from './connection.ts'
import { type Lease, takeLease } from './lease.ts'
import { databaseOpener, type OpenDatabase } from './open-database.ts'
import { preparePath } from './private-file.ts'
import { copyTo, replaceFile } from './settled-file.ts'
import { translateStartError } from './sqlite-error.ts'

export interface Restored {
  /** Where the database that was there before is kept; `undefined` when there was none. */
  readonly kept: string | undefined
  /** The same of the audit log; `undefined` when none was restored. */
  readonly audit?: { readonly path: string; readonly kept: string | undefined } | undefined
}

export interface RestoreOptions extends Omit<BackupOptions, 'out'> {
  readonly path: string
}

/**
 * Puts a copy in the place of the database, at once, and the audit log that goes with it in the place of `audit`; the files
 * that were there stay beside them. What is restored gets a new epoch, so that a client that has seen more than the copy holds
 * is told of the gap.
 *
 * @throws StartError `storage-locked` while a server holds a file; `storage-corrupt` for a copy that does not verify
 */
export async function restoreBackup(copy: string, options: RestoreOptions): Promise<Restored> {
  const { path, encryption, audit, now = Date.now } = options
  const leases: Lease[] = [takeLease(preparePath(path))]
  try {
    const { problems, manifest } = await verifyBackup(copy, { encryption, auditEncryption: audit?.encryption })
    if (problems.length > 0) throw badCopyError(copy, problems)
    if (audit === undefined || manifest?.audit === undefined) {
      return { kept: await putInPlace(copy, { path, encryption, now }) }
    }
    leases.push(takeLease(preparePath(audit.path)))
    const auditKept = await putInPlace(auditCopyOf(copy), { ...audit, now })
    const kept = await putInPlace(copy, { path, encryption, now })
    return { kept, audit: { path: audit.path, kept: auditKept } }
  } finally {
    for (const lease of leases) lease.release()
  }
}

async function putInPlace(
  copy: string,
  { path, encryption, now }: AuditFile & { readonly now: () => number },
): Promise<string | undefined> {
  const open = await databaseOpener(encryption)
  const target = preparePath(path)
  try {
    const kept = existsSync(target) ? keepAside(target, { open, now }) : undefined
    replaceFile(target, (temporary) => {
      copyTo(copy)(temporary)
      giveNewEpoch(temporary, open)
    })
    return kept
  } catch (error) {
    throw translateStartError(error, target)
  }
}

/** A second name for the file: it is never missing, whenever this is interrupted. */
function keepAside(target: string, { open, now }: { readonly open: OpenDatabase; readonly now: () => number }): string {
  const kept = `${target}.before-restore-${new Date(now()).toISOString().replaceAll(/[-:.]/g, '')}`
  foldLog(target, open)
  linkSync(target, kept)
  if (existsSync(`${target}-wal`)) linkSync(`${target}-wal`, `${kept}-wal`)
  // The log of the old file must not be replayed into the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(`${target}${suffix}`, { force: true })
  return kept
}

/** Moves the log into the file, where it can be read at all: a damaged file keeps its log under its new name. */
function foldLog(target: string, open: OpenDatabase): void {
  try {
    const { database } = openConnection(target, { open })
    database.pragma('wal_checkpoint(TRUNCATE)')
    database.close()
  } catch {}
}

function giveNewEpoch(path: string, open: OpenDatabase): void {
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
    message: `${copy} cannot be restored: ${problems[0]}.`,
    hint: 'Nothing was changed. Take another copy; `perdure backup verify` shows all that is wrong with this one.',
  })
