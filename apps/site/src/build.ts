// Builds the site into `dist/site`, or into the folder that is the first argument.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build } from 'vitepress'
import { forVitePress, llmsFull, llmsIndex, sitePages } from './site-pages.ts'

const site = join(import.meta.dirname, '..')
const documents = join(site, '../../docs')
const pages = join(site, 'dist/pages')
const outDir = resolve(process.argv[2] ?? join(site, 'dist/site'))

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

rmSync(pages, { recursive: true, force: true })
for (const page of sitePages()) write(join(pages, page.path), forVitePress(page))
cpSync(join(documents, 'guides/pictures'), join(pages, 'public/guides/pictures'), { recursive: true })
cpSync(join(documents, 'reference/config.schema.json'), join(pages, 'public/reference/config.schema.json'))
cpSync(join(site, 'icon.svg'), join(pages, 'public/icon.svg'))
write(join(pages, 'public/llms.txt'), llmsIndex())
write(join(pages, 'public/llms-full.txt'), llmsFull())

await build(site, { outDir })
for (const { path, markdown } of sitePages()) write(join(outDir, path), markdown)
