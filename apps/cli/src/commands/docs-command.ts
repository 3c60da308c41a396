import { isAbsolute, relative } from 'node:path'
import type { Call } from '../call.ts'
import { cliError } from '../cli-error.ts'
import { documentsFolder, readDocuments, SOURCE_DOCUMENTS } from '../docs/documents.ts'
import { rankSections } from '../docs/rank-sections.ts'
import { splitSections } from '../docs/split-sections.ts'

export interface DocsSearchFlags {
  readonly words: readonly string[]
  readonly limit: number
}

export function docsSearchCommand({ out, terminal }: Call, { words, limit }: DocsSearchFlags): void {
  const { cwd } = terminal
  const folder = documentsFolder({ cwd, script: process.argv[1], source: SOURCE_DOCUMENTS })
  if (folder === undefined) {
    throw cliError('docs-missing', {
      message: `the documents of the package perdure are not installed for ${cwd}`,
      hint: 'run npm install perdure in the folder of your project',
      exit: 'failed',
    })
  }
  const found = rankSections(readDocuments(folder).flatMap(splitSections), words)
  if (found.length === 0) {
    throw cliError('docs-nothing-found', {
      message: `no document contains ${words.join(' ')}`,
      hint: `try fewer or other words, or read the list of documents in ${shown(cwd, folder)}`,
      exit: 'failed',
    })
  }
  const items = found
    .slice(0, limit)
    .map(({ title, section, path, line }) => ({ title, section, path: shown(cwd, path), line }))
  out.list(
    { items, nextCursor: null },
    {
      TITLE: 'title',
      SECTION: 'section',
      PATH: { cell: ({ path, line }) => `${path}:${line}`, isId: true },
    },
  )
}

/** A path that the caller can open: relative to the working folder if it is in there. */
function shown(cwd: string, path: string): string {
  const name = relative(cwd, path)
  return name.startsWith('..') || isAbsolute(name) ? path : name
}
