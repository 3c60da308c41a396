import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type EvalDefinition, isEval } from '@perdure/evals'
import { usageError } from '../cli-error.ts'

const FILES = '**/*.eval.{ts,mts,js,mjs}'
const IGNORED: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git'])

/**
 * Loads the evals that files named `*.eval.ts` export, in the order of their files and names.
 *
 * @param pattern only files and evals whose path or name contains it
 */
export async function loadEvals(cwd: string, pattern: string | undefined): Promise<readonly EvalDefinition[]> {
  const files: string[] = []
  for await (const file of glob(FILES, { cwd, exclude: (name) => IGNORED.has(name) })) files.push(file)
  if (files.length === 0) {
    throw usageError(`no eval files in ${cwd}`, `export what defineEval returns from a file like support.eval.ts`)
  }
  const loaded = await Promise.all(files.sort().map(async (file) => ({ file, evals: await evalsIn(join(cwd, file)) })))
  const all = loaded.flatMap(({ file, evals }) => evals.map((definition) => ({ file, definition })))
  const meant = all.filter(
    ({ file, definition }) => pattern === undefined || `${file} ${definition.name}`.includes(pattern),
  )
  if (meant.length === 0) {
    const names = all.map(({ file, definition }) => `${definition.name} (${file})`).join(', ')
    throw usageError(
      pattern === undefined ? `no evals in ${files.join(', ')}` : `no eval matches ${pattern}`,
      `evals: ${names || 'none'}`,
    )
  }
  const evals = meant.map(({ definition }) => definition)
  const twice = evals.find(({ name }, index) => evals.findIndex((other) => other.name === name) !== index)
  if (twice !== undefined) throw usageError(`two evals are named ${twice.name}`, 'give each eval a name of its own')
  return evals
}

async function evalsIn(path: string): Promise<readonly EvalDefinition[]> {
  try {
    const module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
    return [...new Set(Object.values(module).flat())].filter(isEval)
  } catch (error) {
    throw usageError(`cannot load ${path}: ${error instanceof Error ? error.message : String(error)}`, 'fix the module')
  }
}
