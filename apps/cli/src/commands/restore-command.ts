import { restoreBackup } from '@berth/sqlite'
import type { CommandContext } from '../command-context.ts'
import type { ConfigFlags } from '../config/load-config.ts'
import { givenPath, storageFile } from '../config/storage-file.ts'
import { writeDocument } from '../terminal.ts'

export interface RestoreFlags extends ConfigFlags {
  readonly json?: boolean
}

/** Refused while a server holds the file. */
export async function restoreCommand({ terminal }: CommandContext, file: string, flags: RestoreFlags): Promise<void> {
  const { path, encryption } = await storageFile(terminal, flags)
  const { kept } = await restoreBackup(givenPath(terminal, file), { path, encryption })
  if (flags.json) writeDocument(terminal, { path, kept: kept ?? null })
  else terminal.stdout.write(`restored ${path}${kept === undefined ? '' : `\nwhat was there before: ${kept}`}\n`)
}
