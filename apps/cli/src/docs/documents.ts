import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../package-file.ts'

/** A Markdown document of the package `perdure`. */
export interface Document {
  readonly path: string
  readonly text: string
}

/** Where a command looks for the documents: the folder it works in, and the script that Node.js started. */
export interface Started {
  readonly cwd: string
  readonly script: string | undefined
  /** The documents of the repository, while the command runs from its sources. */
  readonly source: string | undefined
}

/**
 * The folder with the documents: in the package `perdure` whose command was started, or else in the one that the working
 * folder has installed.
 */
export function documentsFolder({ cwd, script, source }: Started): string | undefined {
  const folders = [source, besideScript(script), ofInstalled(cwd)]
  return folders.find((folder) => folder !== undefined && existsSync(join(folder, 'guides')))
}

export const SOURCE_DOCUMENTS = import.meta.url.endsWith('.ts') ? fileURLToPath(packageFile('../../docs')) : undefined

/** `bin/perdure.js` and `docs` are folders of the same package; a package manager links the script. */
function besideScript(script: string | undefined): string | undefined {
  return script !== undefined && existsSync(script) ? join(dirname(realpathSync(script)), '../docs') : undefined
}

/** Looks in the folder and in those above it, as Node.js does. */
function ofInstalled(folder: string): string | undefined {
  const docs = join(folder, 'node_modules/perdure/docs')
  if (existsSync(docs)) return docs
  const parent = dirname(folder)
  return parent === folder ? undefined : ofInstalled(parent)
}

/** The guides and the reference, sorted by path. */
export const readDocuments = (folder: string): readonly Document[] =>
  globSync('{guides,reference}/*.md', { cwd: folder })
    .sort()
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), 'utf8') }))
