import { restoreBackup } from '@berth/sqlite'
import type { Call } from '../call.ts'
import { givenPath, storageFile } from '../config/storage-file.ts'

/** Refused while a server holds the file. */
export async function restoreCommand(call: Call, { file }: { readonly file: string }): Promise<void> {
  const { path, encryption } = await storageFile(call)
  const { kept } = await restoreBackup(givenPath(call, file), { path, encryption })
  const before = kept === undefined ? '' : `\nwhat was there before: ${kept}`
  call.out.document({ path, kept: kept ?? null }, () => `restored ${path}${before}\n`)
}
