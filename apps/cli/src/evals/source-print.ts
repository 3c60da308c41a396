import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'

/** Imports by a relative path, static and dynamic ones with a literal. */
const IMPORT = /\b(?:from|import)\s{0,8}\(?\s{0,8}["'](\.{1,2}\/[^"'\n]{1,500})["']/g

/**
 * A hash of the source of a module and of the modules that it imports by relative paths. It does not cover packages, the environment
 * and what the code reads.
 */
export async function sourcePrint(file: string): Promise<string> {
  const sources = new Map<string, string>()
  await collect(file, sources)
  const hash = createHash('sha256')
  for (const [path, text] of [...sources].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    hash.update(JSON.stringify([relative(dirname(file), path), text]))
  }
  return hash.digest('hex').slice(0, 12)
}

async function collect(path: string, sources: Map<string, string>): Promise<void> {
  if (sources.has(path)) return
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return
  sources.set(path, text)
  for (const [, imported = ''] of text.matchAll(IMPORT)) await collect(resolve(dirname(path), imported), sources)
}
