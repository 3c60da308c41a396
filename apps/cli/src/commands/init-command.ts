import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { installSteps, makeDirectory, projectNameOf, readTemplate, type TemplateName, writeFiles } from 'create-perdure'
import type { Call } from '../call.ts'
import { cliError, usageError } from '../cli-error.ts'
import type { Terminal } from '../terminal.ts'

export interface InitFlags {
  readonly template: TemplateName
  readonly dir?: string
  readonly yes?: boolean
}

const PACKAGE_FILE = 'package.json'

/**
 * Writes all files of a project, or none if any of them already exists. An existing package.json is kept: the printed
 * commands add what it lacks.
 */
export async function initCommand({ terminal, out }: Call, flags: InitFlags): Promise<void> {
  const target = resolve(terminal.cwd, flags.dir ?? '.')
  requireFolder(target)
  const ownPackage = await readOwnPackage(join(target, PACKAGE_FILE))
  const template = readTemplate(flags.template, { name: projectNameOf(target) ?? DEFAULT_NAME })
  const files = template.filter(({ path }) => path !== PACKAGE_FILE || ownPackage === undefined)
  const names = files.map(({ path }) => path)
  refuseOverwriting(names.map((name) => join(target, name)))
  await confirm(terminal, flags, `Write ${names.join(', ')} to ${target}?`)

  await makeDirectory(target).catch(refuseExisting(target))
  await writeFiles(target, files).catch(refuseExisting(target))

  const shown = relative(terminal.cwd, target)
  const kept = ownPackage === undefined ? [] : [PACKAGE_FILE]
  const manifest = template.find(({ path }) => path === PACKAGE_FILE)?.text ?? '{}'
  const next = [...(shown === '' ? [] : [`cd ${shown}`]), ...installSteps(manifest, ownPackage)]
  out.document({ dir: target, files: names, kept, next }, (paint) =>
    [
      ...names.map((name) => `${paint('green', '✓')} ${join(shown, name)}\n`),
      ...kept.map((name) => `  ${join(shown, name)} exists and was not changed\n`),
      `next: ${next.join(' && ')}\n`,
    ].join(''),
  )
}

/** Name of a project in a folder whose name npm does not accept. */
const DEFAULT_NAME = 'perdure-app'

function requireFolder(target: string): void {
  const file = nearestExisting(target)
  if (!statSync(file).isDirectory()) throw existsError([file])
}

function refuseOverwriting(paths: readonly string[]): void {
  const present = paths.filter((path) => existsSync(path))
  if (present.length > 0) throw existsError(present)
}

/** Text of the project's own package.json, if it has one. */
const readOwnPackage = async (path: string): Promise<string | undefined> =>
  existsSync(path) && statSync(path).isFile() ? readFile(path, 'utf8') : undefined

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path))
}

async function confirm(terminal: Terminal, { yes }: InitFlags, question: string): Promise<void> {
  if (yes) return
  if (!terminal.isInteractive) throw usageError('init prompts before it writes, and there is no terminal', 'add --yes')
  const answer = await terminal.ask(`${question} [Y/n] `)
  if (!/^(?:y|yes)?$/i.test(answer.trim())) {
    throw cliError('cancelled', {
      message: 'nothing was written',
      hint: 'run perdure init again and answer y',
      exit: 'failed',
    })
  }
}

const refuseExisting = (target: string) => (error: unknown) => {
  const { code, path = target } = error as NodeJS.ErrnoException
  throw code === 'EEXIST' ? existsError([path]) : error
}

const existsError = (paths: readonly string[]) =>
  cliError('file-exists', {
    message: `init does not overwrite existing files: ${paths.join(', ')}`,
    hint: 'choose another folder, or move these files away',
    exit: 'conflict',
  })
