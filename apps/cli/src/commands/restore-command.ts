import { isRescueOf, restoreBackup } from '@perdure/sqlite'
import type { Call } from '../call.ts'
import { givenPath, type StorageFiles, storageFiles } from '../config/storage-file.ts'

/** Fails while a server holds the database. */
export async function restoreCommand(call: Call, { file }: { readonly file: string }): Promise<void> {
  const copy = givenPath(call, file)
  const { main, audit } = targetOf(copy, await storageFiles(call))
  const { kept, audit: log } = await restoreBackup(copy, { ...main, audit })
  if (audit !== undefined && log === undefined) call.out.note(`the backup has no audit log: ${audit.path} is unchanged`)
  const restored = [{ path: main.path, kept }, ...(log === undefined ? [] : [log])]
  const before = ({ kept }: { readonly kept: string | undefined }) =>
    kept === undefined ? '' : `\nold file kept as ${kept}`
  call.out.document({ path: main.path, kept: kept ?? null, audit: log && { ...log, kept: log.kept ?? null } }, () =>
    restored.map((one) => `restored ${one.path}${before(one)}\n`).join(''),
  )
}

/** A copy that a server saved of its audit log replaces the audit log alone. */
const targetOf = (copy: string, { main, audit }: StorageFiles): StorageFiles =>
  audit !== undefined && isRescueOf(copy, audit.path) ? { main: audit, audit: undefined } : { main, audit }
