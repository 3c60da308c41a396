import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'

/** One file of the console, as it is and compressed. */
export interface ConsoleAsset {
  readonly type: string
  readonly body: Uint8Array
  readonly brotli: Uint8Array
  readonly gzip: Uint8Array
}

/** The files of the console by name. `index.html` refers to the others, whose names change with their content. */
export type ConsoleAssets = ReadonlyMap<string, ConsoleAsset>

/** The build of the page, beside this module when published and also when the sources run. */
const FOLDER = new URL('../dist/page/', import.meta.url)

const DOCS = 'docs.html'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** Reads the files of the console into memory. @throws Error if the package is not built */
export function consoleAssets(): ConsoleAssets {
  const names = readdirSync(FOLDER).filter((name) => extname(name) in TYPES && name !== DOCS)
  const read = (name: string): Uint8Array => readFileSync(new URL(name, FOLDER))
  return new Map(
    names.map((name) => [
      name,
      {
        type: TYPES[extname(name)] ?? '',
        body: read(name),
        brotli: read(`${name}.br`),
        gzip: read(`${name}.gz`),
      },
    ]),
  )
}

/** The page that documents the API and calls it: one file, with its style and its script inside. */
export interface DocsPage {
  /** Contains `%LIST%` where a list for readers without JavaScript belongs. */
  readonly html: string
  /** The sources `'sha256-…'` of a Content-Security-Policy that allow the style and the script. */
  readonly styleSource: string
  readonly scriptSource: string
}

/** Reads the page. @throws Error if the package is not built */
export function docsPage(): DocsPage {
  const html = readFileSync(new URL(DOCS, FOLDER), 'utf8')
  const sourceOf = (open: string, close: string): string => {
    const start = html.indexOf(open) + open.length
    const content = html.slice(start, html.indexOf(close, start))
    return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
  }
  const styleSource = sourceOf('<style>', '</style>')
  return { html, styleSource, scriptSource: sourceOf('<script type="module">', '</script>') }
}
