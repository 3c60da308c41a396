import { existsSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Call } from '../call.ts'
import { cliError, usageError } from '../cli-error.ts'
import { makeDirectory } from '../make-directory.ts'
import type { Terminal } from '../terminal.ts'

export interface InitFlags {
  readonly template: 'basic'
  readonly dir?: string
  readonly yes?: boolean
}

/** File of the project, file of the template: npm leaves out every `.gitignore` of a package. */
const FILES = [
  ['berth.config.mjs', 'berth.config.mjs'],
  ['.gitignore', 'gitignore'],
  ['README.md', 'README.md'],
] as const

/** Writes a project; all of it, or nothing when any file is there already. */
export async function initCommand({ terminal, out }: Call, flags: InitFlags): Promise<void> {
  const target = resolve(terminal.cwd, flags.dir ?? '.')
  const names = FILES.map(([name]) => name)
  refuseOverwriting(target, names)
  await confirm(terminal, flags, `Write ${names.join(', ')} to ${target}?`)

  await makeDirectory(target).catch(refuseExisting(target))
  for (const [name, source] of FILES) await writeNew(join(target, name), await readTemplate(flags.template, source))

  const shown = relative(terminal.cwd, target)
  const go = shown === '' ? '' : `cd ${shown} && `
  const wrote = `${names.map((name) => `wrote ${join(shown, name)}`).join('\n')}\nnext: ${go}npx berth dev\n`
  out.document({ dir: target, files: names }, () => wrote)
}

function refuseOverwriting(target: string, names: readonly string[]): void {
  const file = nearestExisting(target)
  if (!statSync(file).isDirectory()) throw existsError([file])
  const present = names.filter((name) => existsSync(join(target, name)))
  if (present.length > 0) throw existsError(present.map((name) => join(target, name)))
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path))
}

async function confirm(terminal: Terminal, { yes }: InitFlags, question: string): Promise<void> {
  if (yes) return
  if (!terminal.isInteractive) throw usageError('init asks before it writes, and here nobody can answer', 'add --yes')
  const answer = await terminal.ask(`${question} [Y/n] `)
  if (!/^(?:y|yes)?$/i.test(answer.trim())) {
    throw cliError('cancelled', { message: 'nothing was written', hint: 'run it again and answer y', exit: 'failed' })
  }
}

const writeNew = (path: string, text: string): Promise<void> =>
  writeFile(path, text, { flag: 'wx' }).catch(refuseExisting(path))

const refuseExisting = (path: string) => (error: unknown) => {
  throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? existsError([path]) : error
}

const existsError = (paths: readonly string[]) =>
  cliError('file-exists', {
    message: `init never overwrites, and there is already ${paths.join(', ')}`,
    hint: 'choose another folder, or move these files away',
    exit: 'conflict',
  })

const readTemplate = (template: string, name: string): Promise<string> =>
  readFile(new URL(`../../templates/${template}/${name}`, import.meta.url), 'utf8')
