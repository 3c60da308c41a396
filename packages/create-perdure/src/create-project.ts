import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { installSteps } from './install-steps.ts'
import { projectNameOf } from './project-name.ts'
import { DEFAULT_TEMPLATE, readTemplate, TEMPLATE_NAMES, TEMPLATES, type TemplateName } from './templates.ts'
import { writeFiles } from './write-files.ts'

export interface Outcome {
  readonly exitCode: number
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly cwd: string
  /** Asks the user; `undefined` without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined
}

/** Why no project was created, and what to do about it. */
interface Refusal {
  readonly kind: 'usage' | 'file-exists'
  readonly message: string
  readonly hint: string
}

const EXIT_CODES = { usage: 2, 'file-exists': 6 } as const
const DEFAULT_FOLDER = 'perdure-app'

const HELP = `Usage: npm create perdure@latest [folder] -- [--template <name>]

Creates a project in a new or empty folder. In a terminal, asks for what is not given; otherwise the folder is ${DEFAULT_FOLDER}
and the template ${DEFAULT_TEMPLATE}.

Templates:
${TEMPLATE_NAMES.map((name) => `  ${name.padEnd(15)}${TEMPLATES[name]}\n`).join('')}`

/** The command: reads its arguments, asks for what they lack, and writes the project or nothing. */
export async function createProject(args: readonly string[], { cwd, ask }: Surroundings): Promise<Outcome> {
  const parsed = parse(args)
  if ('kind' in parsed) return refuse(parsed)
  if (parsed.help) return { exitCode: 0, out: HELP, err: '' }

  const folder = parsed.folder ?? ((await ask?.(`Folder (${DEFAULT_FOLDER}): `)) || DEFAULT_FOLDER)
  const target = resolve(cwd, folder)
  const name = projectNameOf(target)
  const refusal = name === undefined ? invalidName(folder) : refusalOf(target)
  if (refusal !== undefined || name === undefined) return refuse(refusal ?? invalidName(folder))

  const template = parsed.template ?? ((await ask?.(question())) || DEFAULT_TEMPLATE)
  if (!isTemplate(template)) return refuse(unknownTemplate(template))

  const files = readTemplate(template, { name })
  await writeFiles(target, files)
  return { exitCode: 0, out: report(files, { cwd, target }), err: '' }
}

interface Arguments {
  readonly folder: string | undefined
  readonly template: string | undefined
  readonly help: boolean
}

function parse(args: readonly string[]): Arguments | Refusal {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { template: { type: 'string', short: 't' }, help: { type: 'boolean', short: 'h', default: false } },
    })
    const [folder, ...rest] = positionals
    if (rest.length > 0) return usage(`too many arguments: ${rest.join(' ')}`, 'pass one folder')
    return { folder, template: values.template, help: values.help }
  } catch (error) {
    return usage((error as Error).message, 'see npm create perdure@latest -- --help')
  }
}

const question = (): string =>
  `${TEMPLATE_NAMES.map((name) => `  ${name.padEnd(15)}${TEMPLATES[name]}\n`).join('')}Template (${DEFAULT_TEMPLATE}): `

const isTemplate = (name: string): name is TemplateName => Object.hasOwn(TEMPLATES, name)

function refusalOf(target: string): Refusal | undefined {
  if (!existsSync(target)) return undefined
  if (!statSync(target).isDirectory()) return fileExists(`${target} is a file`)
  const present = readdirSync(target).filter((name) => name !== '.git')
  return present.length === 0
    ? undefined
    : fileExists(`${target} is not empty: it contains ${present.slice(0, 3).join(', ')}`)
}

const usage = (message: string, hint: string): Refusal => ({ kind: 'usage', message, hint })

const invalidName = (folder: string): Refusal =>
  usage(
    `the name of the folder cannot be the name of a package: ${folder}`,
    'use lower-case letters, digits, ".", "_" and "-", and begin with a letter or digit',
  )

const unknownTemplate = (name: string): Refusal =>
  usage(`unknown template: ${name}`, `use one of ${TEMPLATE_NAMES.join(', ')}`)

const fileExists = (message: string): Refusal => ({
  kind: 'file-exists',
  message,
  hint: 'choose a new or empty folder; to add Perdure to an existing project, run npx perdure init there',
})

const refuse = ({ kind, message, hint }: Refusal): Outcome => ({
  exitCode: EXIT_CODES[kind],
  out: '',
  err: `error[${kind}]: ${message}\n  hint: ${hint}\n`,
})

function report(files: ReturnType<typeof readTemplate>, { cwd, target }: { cwd: string; target: string }): string {
  const shown = relative(cwd, target)
  const manifest = files.find(({ path }) => path === 'package.json')?.text ?? '{}'
  const next = [...(shown === '' ? [] : [`cd ${shown}`]), ...installSteps(manifest, undefined)]
  return [...files.map(({ path }) => `✓ ${join(shown, path)}\n`), `next: ${next.join(' && ')}\n`].join('')
}
