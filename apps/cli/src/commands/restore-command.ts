import { restoreBackup } from '@perdure/sqlite'
import type { Call } from '../call.ts'
import { givenPath, storageFiles } from '../config/storage-file.ts'

/** Refused while a server holds the file. */
export async function restoreCommand(call: Call, { file }: { readonly file: string }): Promise<void> {
  const { main, audit } = await storageFiles(call)
  const { kept, audit: log } = await restoreBackup(givenPath(call, file), { ...main, audit })
  if (audit !== undefined && log === undefined) call.out.note(`no audit log goes with it: ${audit.path} stays as it is`)
  const restored = [{ path: main.path, kept }, ...(log === undefined ? [] : [log])]
  const before = ({ kept }: { readonly kept: string | undefined }) =>
    kept === undefined ? '' : `\nwhat was there before: ${kept}`
  call.out.document({ path: main.path, kept: kept ?? null, audit: log && { ...log, kept: log.kept ?? null } }, () =>
    restored.map((one) => `restored ${one.path}${before(one)}\n`).join(''),
  )
}
