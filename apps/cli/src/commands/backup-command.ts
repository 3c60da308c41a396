import { existsSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { type BackupManifest, createBackup, verifyBackup } from '@perdure/sqlite'
import type { Call } from '../call.ts'
import { givenPath, storageFiles } from '../config/storage-file.ts'
import { EXIT_CODES } from '../exit-codes.ts'

export interface BackupCreateFlags {
  readonly out?: string
  readonly verify?: boolean
}

/** Can run while a server uses the database. */
export async function backupCreateCommand(call: Call, flags: BackupCreateFlags): Promise<void> {
  const { main, audit, files } = await storageFiles(call)
  const { path, encryption } = main
  const now = Date.now()
  const out = flags.out === undefined ? defaultBackupPath(path, now) : givenPath(call, flags.out)
  // The audit log does not exist before the first start.
  const isAudited = audit !== undefined && existsSync(audit.path)
  if (files === undefined) call.out.note('the contents of files stay in the bucket: the backup has only their hashes')
  const manifest = await createBackup(path, {
    out,
    encryption,
    audit: isAudited ? audit : undefined,
    files,
    now: () => now,
  })
  const how = { encryption, auditEncryption: audit?.encryption, hasContents: files !== undefined }
  const problems = flags.verify === true ? (await verifyBackup(out, how)).problems : undefined
  const verdict = problems === undefined ? '' : problemsText(problems)
  call.out.document({ path: out, ...manifest, problems }, () => `${out}\n${summaryOf(manifest)}\n${verdict}`)
  finishWithProblems(call, problems ?? [])
}

export async function backupVerifyCommand(call: Call, { file }: { readonly file: string }): Promise<void> {
  const { main, audit, files } = await storageFiles(call)
  const path = givenPath(call, file)
  const how = {
    ...{ encryption: main.encryption, auditEncryption: audit?.encryption, hasContents: files !== undefined },
  }
  const { problems, manifest, database } = await verifyBackup(path, how)
  if (manifest === undefined && !call.out.isJson)
    call.out.note('no manifest next to the backup: only its content was checked')
  call.out.document({ path, problems, manifest, audit: database?.audit }, () => problemsText(problems))
  finishWithProblems(call, problems)
}

/** Problems found are not a failure of the command: they have their own exit code. */
export function finishWithProblems({ finish }: Call, problems: readonly string[]): void {
  if (problems.length > 0) finish(EXIT_CODES.problem.code)
}

/** One line per problem, or `verified`. */
export const problemsText = (problems: readonly string[]): string =>
  `${problems.length === 0 ? 'verified' : problems.join('\n')}\n`

/** `data-20260101T120000Z.db` in the folder `backups` next to the database. */
function defaultBackupPath(path: string, now: number): string {
  const stamp = `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
  const extension = extname(path)
  return join(dirname(path), 'backups', `${basename(path, extension)}-${stamp}${extension}`)
}

const summaryOf = ({ bytes, sha256, schemaVersion, isEncrypted, audit, files }: BackupManifest): string => {
  const log = audit === undefined ? '' : `\naudit log: ${audit.bytes} bytes, sha256 ${audit.sha256}`
  const contents =
    files === undefined ? '' : `\n${files.folder}: ${files.files} contents of files, ${files.bytes} bytes`
  return `${bytes} bytes, schema ${schemaVersion}${isEncrypted ? ', encrypted' : ''}, sha256 ${sha256}${log}${contents}`
}
