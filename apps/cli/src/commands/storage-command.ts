import { existsSync } from 'node:fs'
import { requireSingleName, vacuum, verifyDatabase } from '@perdure/sqlite'
import type { Call } from '../call.ts'
import { storageFile, storageFiles } from '../config/storage-file.ts'
import { finishWithProblems, problemsText } from './backup-command.ts'

/** Can run while a server uses the database. */
export async function storageVerifyCommand(call: Call): Promise<void> {
  const { main, audit } = await storageFiles(call)
  const { path } = main
  for (const file of [path, audit?.path ?? path]) requireSingleName(file)
  const { problems: ofMain, database } = await verifyDatabase(path, main)
  const ofAudit =
    audit === undefined || !existsSync(audit.path) ? [] : (await verifyDatabase(audit.path, audit)).problems
  const problems = [...ofMain, ...ofAudit.map((problem) => `audit log: ${problem}`)]
  const found = { path, ok: problems.length === 0, problems, audit: database?.audit }
  call.out.document(found, () => problemsText(problems))
  finishWithProblems(call, problems)
}

/** Fails while a server holds the database. */
export async function storageVacuumCommand(call: Call): Promise<void> {
  const { path, encryption } = await storageFile(call)
  const sizes = await vacuum(path, { encryption })
  const text = `${path}: ${sizes.bytesBefore} bytes before, ${sizes.bytesAfter} after\n`
  call.out.document({ path, ...sizes }, () => text)
}
