import { basename, dirname, extname, join } from 'node:path'
import { type BackupManifest, createBackup, verifyBackup } from '@berth/sqlite'
import type { CommandContext } from '../command-context.ts'
import type { ConfigFlags } from '../config/load-config.ts'
import { givenPath, storageFile } from '../config/storage-file.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { type Terminal, writeDocument } from '../terminal.ts'

export interface BackupCreateFlags extends ConfigFlags {
  readonly out?: string
  readonly verify?: boolean
  readonly json?: boolean
}

export interface BackupVerifyFlags extends ConfigFlags {
  readonly json?: boolean
}

/** Works beside a running server. */
export async function backupCreateCommand(context: CommandContext, flags: BackupCreateFlags): Promise<void> {
  const { terminal } = context
  const { path, encryption } = await storageFile(terminal, flags)
  const now = Date.now()
  const out = flags.out === undefined ? besideIt(path, now) : givenPath(terminal, flags.out)
  const manifest = await createBackup(path, { out, encryption, now: () => now })
  const problems = flags.verify === true ? (await verifyBackup(out, { encryption })).problems : undefined
  if (flags.json) writeDocument(terminal, { path: out, ...manifest, problems })
  else terminal.stdout.write(`${out}\n${summaryOf(manifest)}\n`)
  if (problems !== undefined) report(context, problems, flags)
}

export async function backupVerifyCommand(
  context: CommandContext,
  file: string,
  flags: BackupVerifyFlags,
): Promise<void> {
  const { terminal } = context
  const { encryption } = await storageFile(terminal, flags)
  const path = givenPath(terminal, file)
  const { problems, manifest, database } = await verifyBackup(path, { encryption })
  if (flags.json) writeDocument(terminal, { path, problems, manifest, audit: database?.audit })
  else if (manifest === undefined) terminal.stderr.write('no manifest beside it: only its content was checked\n')
  report(context, problems, flags)
}

function report({ terminal, finish }: CommandContext, problems: readonly string[], flags: { json?: boolean }): void {
  if (problems.length > 0) finish(EXIT_CODES.problem.code)
  if (!flags.json) showProblems(terminal, problems)
}

/** One line for each, or that there is none. */
export const showProblems = ({ stdout }: Terminal, problems: readonly string[]): void =>
  void stdout.write(`${problems.length === 0 ? 'verified' : problems.join('\n')}\n`)

/** `data-20260101T120000Z.db` in the folder `backups` beside the database. */
function besideIt(path: string, now: number): string {
  const stamp = `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
  const extension = extname(path)
  return join(dirname(path), 'backups', `${basename(path, extension)}-${stamp}${extension}`)
}

const summaryOf = ({ bytes, sha256, schemaVersion, isEncrypted }: BackupManifest): string =>
  `${bytes} bytes, schema ${schemaVersion}${isEncrypted ? ', encrypted' : ''}, sha256 ${sha256}`
