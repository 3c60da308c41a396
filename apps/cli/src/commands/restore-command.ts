import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import { type AuditRestore, openAuditRestore } from '@perdure/server-app/admin'
import {
  auditCopyOf,
  isKeptCopyOf,
  isRescueOf,
  restoreBackup,
  type SchemaVersion,
  schemaVersion,
} from '@perdure/sqlite'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { givenPath, type StorageFiles, storageFiles } from '../config/storage-file.ts'
import { configWithDevPepper } from '../server-access/config-beside-dev.ts'
import { chainLocationOf } from './audit-verify-command.ts'

export interface RestoreFlags {
  readonly file: string
  readonly acceptAuditHead?: string
}

/**
 * Keeps the schema of the backup. Fails while a server has the database open. Fails if the backup's audit log lacks known entries, unless
 * `acceptAuditHead` accepts their loss.
 */
export async function restoreCommand(call: Call, { file, acceptAuditHead }: RestoreFlags): Promise<void> {
  const copy = givenPath(call, file)
  const files = targetOf(copy, await storageFiles(call))
  const { main, audit } = files
  const chain = await chainOf(call, copy, files)
  if (chain !== undefined) requireAccepted(chain, { file, accepted: acceptAuditHead })
  const { kept, audit: log } = await restoreBackup(copy, { ...main, audit, files: files.files })
  const checkpoints = await chain?.record({ user: userInfo().username, backup: basename(copy) })
  if (audit !== undefined && log === undefined) call.out.note(`the backup has no audit log: ${audit.path} is unchanged`)
  const restored = [
    { path: main.path, kept },
    ...(log === undefined ? [] : [log]),
    ...(checkpoints ? [checkpoints] : []),
  ]
  const before = ({ kept }: { readonly kept: string | undefined }) =>
    kept === undefined ? '' : `\nold file kept as ${kept}`
  const schema = await schemaVersion(main.path, main)
  const document = {
    path: main.path,
    kept: kept ?? null,
    schema,
    audit: log && { ...log, kept: log.kept ?? null },
    checkpoints,
  }
  call.out.document(
    document,
    () => `${restored.map((one) => `restored ${one.path}${before(one)}\n`).join('')}${schemaText(schema)}\n`,
  )
}

const schemaText = ({ version, newest }: SchemaVersion): string =>
  version === newest
    ? `schema version ${version}, which this release uses`
    : `schema version ${version}: the release that wrote the backup can start on it; the next start of this release migrates it to ${newest}`

/** Compares the audit chain of the backup with the known entries; `undefined` if the restore replaces no chain. */
async function chainOf(call: Call, copy: string, { main, audit }: StorageFiles): Promise<AuditRestore | undefined> {
  const loaded = await call.config()
  const target = audit ?? main
  const chain = { ...target, path: audit === undefined ? copy : auditCopyOf(copy) }
  return existsSync(chain.path)
    ? openAuditRestore(configWithDevPepper(loaded), loaded, { copy: chain, target })
    : undefined
}

/** @throws a usage error unless the operator has named the entry after which the chain will continue */
function requireAccepted(
  { head, lost }: AuditRestore,
  { file, accepted }: { readonly file: string; readonly accepted: string | undefined },
): void {
  const name = `${head.seq}:${head.hash}`
  if (accepted !== undefined) {
    const { size, hash } = chainLocationOf('accept-audit-head', accepted)
    if (size === head.seq && hash === head.hash) return
    throw usageError(
      `--accept-audit-head is not the last audit entry of the backup, which is ${name}`,
      'check that this is the backup that you want to restore',
    )
  }
  if (lost === undefined) return
  throw usageError(
    `the audit log of the backup ends at entry ${head.seq} and does not contain the known entry ${lost.seq}`,
    `to discard the newer entries, run: perdure restore ${file} --accept-audit-head ${name}; the restored audit log records this`,
  )
}

/** A copy that a server saved or kept of its audit log replaces the audit log alone. */
const targetOf = (copy: string, { main, audit, files }: StorageFiles): StorageFiles =>
  audit !== undefined && (isRescueOf(copy, audit.path) || isKeptCopyOf(copy, audit.path))
    ? { main: audit, audit: undefined, files }
    : { main, audit, files }
