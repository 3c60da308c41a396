import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '../..')
const source = join(root, 'packages/http/src/docs-page/page')

/** The assets of `GET /docs`: the style, the bundled script, and their hashes for the Content-Security-Policy. */
export async function docsPageAssets(): Promise<string> {
  const style = readFileSync(join(source, 'page.css'), 'utf8')
  const script = await bundle()
  return [
    '// Derived from the folder page by `pnpm derive`: edit that, not this.',
    `export const PAGE_STYLE: string = ${JSON.stringify(style)}`,
    `export const PAGE_STYLE_HASH = '${hashOf(style)}'`,
    `export const PAGE_SCRIPT: string = ${JSON.stringify(script)}`,
    `export const PAGE_SCRIPT_HASH = '${hashOf(script)}'`,
    '',
  ].join('\n')
}

async function bundle(): Promise<string> {
  const build = await rolldown({ cwd: root, input: join(source, 'page.ts'), platform: 'browser', logLevel: 'silent' })
  const { output } = await build.generate({ format: 'iife' })
  await build.close()
  return output[0].code
}

/** The hash of an inline script or style in Content-Security-Policy notation. */
const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`
