import { vacuum, verifyDatabase } from '@berth/sqlite'
import type { CommandContext } from '../command-context.ts'
import type { ConfigFlags } from '../config/load-config.ts'
import { storageFile } from '../config/storage-file.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { writeDocument } from '../terminal.ts'
import { showProblems } from './backup-command.ts'

export interface StorageFlags extends ConfigFlags {
  readonly json?: boolean
}

/** Works beside a running server. */
export async function storageVerifyCommand({ terminal, finish }: CommandContext, flags: StorageFlags): Promise<void> {
  const { path, encryption } = await storageFile(terminal, flags)
  const { problems, database } = await verifyDatabase(path, { encryption })
  const isOk = problems.length === 0
  if (flags.json) writeDocument(terminal, { path, ok: isOk, problems, audit: database?.audit })
  else showProblems(terminal, problems)
  if (!isOk) finish(EXIT_CODES.problem.code)
}

/** Refused while a server holds the file. */
export async function storageVacuumCommand({ terminal }: CommandContext, flags: StorageFlags): Promise<void> {
  const { path, encryption } = await storageFile(terminal, flags)
  const sizes = await vacuum(path, { encryption })
  if (flags.json) writeDocument(terminal, { path, ...sizes })
  else terminal.stdout.write(`${path}: ${sizes.bytesBefore} bytes before, ${sizes.bytesAfter} after\n`)
}
