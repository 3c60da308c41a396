import { existsSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Call } from '../call.ts'
import { cliError, usageError } from '../cli-error.ts'
import { makeDirectory } from '../make-directory.ts'
import { packageFile } from '../package-file.ts'
import { isOnPath } from '../perdure-command.ts'
import type { Terminal } from '../terminal.ts'
import { readVersion } from '../version.ts'
import { installSteps } from './install-steps.ts'

export interface InitFlags {
  readonly template: keyof typeof TEMPLATES
  readonly dir?: string
  readonly yes?: boolean
}

const PACKAGE_FILE = 'package.json'

/** A project file and its source below `templates`. The names differ for `.gitignore`, which npm never packs. */
type TemplateFile = readonly [name: string, source: string]

const SHARED: readonly TemplateFile[] = [
  ['AGENTS.md', 'shared/AGENTS.md'],
  ['.gitignore', 'shared/gitignore'],
]

const filesOf = (template: string, names: readonly string[]): readonly TemplateFile[] => [
  ...[...names, PACKAGE_FILE, 'README.md'].map((name) => [name, `${template}/${name}`] as const),
  ...SHARED,
]

const TEMPLATES = {
  basic: filesOf('basic', ['perdure.config.mjs', 'agents/echo.mjs']),
  workflow: filesOf('workflow', ['perdure.config.mjs', 'workflows/refund.mjs']),
  'ai-sdk': filesOf('ai-sdk', ['perdure.config.mjs', 'agents/assistant.mjs', 'agents/model.mjs']),
} as const

/**
 * Writes all files of a project, or none if any of them already exists. An existing package.json is kept: the printed
 * commands add what it lacks.
 */
export async function initCommand({ terminal, out }: Call, flags: InitFlags): Promise<void> {
  const target = resolve(terminal.cwd, flags.dir ?? '.')
  requireFolder(target)
  const ownPackage = await readOwnPackage(join(target, PACKAGE_FILE))
  const files = TEMPLATES[flags.template].filter(([name]) => name !== PACKAGE_FILE || ownPackage === undefined)
  const names = files.map(([name]) => name)
  refuseOverwriting(names.map((name) => join(target, name)))
  await confirm(terminal, flags, `Write ${names.join(', ')} to ${target}?`)

  await makeDirectory(target).catch(refuseExisting(target))
  for (const [name, source] of files) {
    await makeDirectory(dirname(join(target, name)))
    await writeNew(join(target, name), await readTemplate(source))
  }

  const shown = relative(terminal.cwd, target)
  const kept = ownPackage === undefined ? [] : [PACKAGE_FILE]
  const next = [
    ...(shown === '' ? [] : [`cd ${shown}`]),
    ...startSteps(terminal, await readTemplate(`${flags.template}/${PACKAGE_FILE}`), ownPackage),
  ]
  out.document({ dir: target, files: names, kept, next }, (paint) =>
    [
      ...names.map((name) => `${paint('green', '✓')} ${join(shown, name)}\n`),
      ...kept.map((name) => `  ${join(shown, name)} exists and was not changed\n`),
      `next: ${next.join(' && ')}\n`,
    ].join(''),
  )
}

/** With the command on the PATH, a project that needs no other package starts without an installation. */
function startSteps({ env }: Terminal, template: string, ownPackage: string | undefined): readonly string[] {
  const packages = Object.keys((JSON.parse(template) as { readonly dependencies: object }).dependencies)
  return isOnPath(env) && packages.length === 1 ? ['perdure dev'] : installSteps(template, ownPackage)
}

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

const writeNew = (path: string, text: string): Promise<void> =>
  writeFile(path, text, { flag: 'wx' }).catch(refuseExisting(path))

const refuseExisting = (path: string) => (error: unknown) => {
  throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? existsError([path]) : error
}

const existsError = (paths: readonly string[]) =>
  cliError('file-exists', {
    message: `init does not overwrite existing files: ${paths.join(', ')}`,
    hint: 'choose another folder, or move these files away',
    exit: 'conflict',
  })

/** `$version` in a template stands for the version of this package. */
async function readTemplate(source: string): Promise<string> {
  const text = await readFile(packageFile(`templates/${source}`), 'utf8')
  return text.replaceAll('$version', readVersion())
}
