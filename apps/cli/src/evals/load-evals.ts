import { createHash } from 'node:crypto'
import { glob } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { codePartsOf } from '@perdure/core'
import { type EvalDefinition, isEval } from '@perdure/evals'
import { usageError } from '../cli-error.ts'
import { sourcePrint } from './source-print.ts'

const FILES = '**/*.eval.{ts,mts,js,mjs}'
const IGNORED: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git'])

export interface LoadedEvals {
  readonly evals: readonly EvalDefinition[]
  /** The files that cannot be loaded and are not selected by the pattern. */
  readonly skipped: readonly string[]
}

interface LoadedFile {
  readonly file: string
  readonly evals: readonly EvalDefinition[]
  readonly problem?: string
}

/**
 * Loads the evals that files named `*.eval.ts` export, in the order of their files and names.
 *
 * @param pattern only files and evals whose path or name contains it
 */
export async function loadEvals(cwd: string, pattern: string | undefined): Promise<LoadedEvals> {
  const files: string[] = []
  for await (const file of glob(FILES, { cwd, exclude: (name) => IGNORED.has(name) })) files.push(file)
  if (files.length === 0) {
    throw usageError(`no eval files in ${cwd}`, `export what defineEval returns from a file like support.eval.ts`)
  }
  const loaded = await Promise.all(files.sort().map((file) => load(cwd, file)))
  const broken = loaded.filter(({ problem }) => problem !== undefined)
  const wanted = broken.find(({ file }) => pattern === undefined || file.includes(pattern))
  if (wanted !== undefined)
    throw usageError(`cannot load ${join(cwd, wanted.file)}: ${wanted.problem}`, 'fix the module')
  const skipped = broken.map(({ file, problem }) => `${file} is skipped, because it cannot be loaded: ${problem}`)
  const all = loaded.flatMap(({ file, evals }) => evals.map((definition) => ({ file, definition })))
  refuseTwice(all)
  const meant = all.filter(
    ({ file, definition }) => pattern === undefined || `${file} ${definition.name}`.includes(pattern),
  )
  if (meant.length === 0) {
    const names = all.map(({ file, definition }) => `${definition.name} (${file})`).join(', ')
    throw usageError(
      [pattern === undefined ? `no evals in ${files.join(', ')}` : `no eval matches ${pattern}`, ...skipped].join('; '),
      `evals: ${names || 'none'}`,
    )
  }
  return { evals: meant.map(({ definition }) => definition), skipped }
}

/** All evals of a folder share a results file, also those that are not played. */
function refuseTwice(all: readonly { readonly file: string; readonly definition: EvalDefinition }[]): void {
  const byName = Map.groupBy(all, ({ definition }) => definition.name)
  for (const [name, [first, second]] of byName) {
    if (first === undefined || second === undefined) continue
    throw usageError(
      `two evals are named ${name}: in ${first.file} and ${second.file}`,
      'give each eval a name of its own',
    )
  }
}

async function load(cwd: string, file: string): Promise<LoadedFile> {
  const path = join(cwd, file)
  try {
    const module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
    const definitions = [...new Set(Object.values(module).flat())].filter(isEval)
    const sources = await sourcePrint(path)
    const context = { folder: dirname(path) }
    return { file, evals: definitions.map((one) => ({ ...one, context, code: codeOf(one, sources) })) }
  } catch (error) {
    return { file, evals: [], problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Names the code of the agent: its sources, and what its registration says, which may depend on the environment. */
function codeOf({ agent }: EvalDefinition, sources: string): string {
  const registered = typeof agent === 'function' ? [] : [agent.id, agent.version, codePartsOf(agent)]
  return createHash('sha256')
    .update(JSON.stringify([sources, ...registered]))
    .digest('hex')
    .slice(0, 12)
}
