import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstSentence, titleOf } from '../documents/first-sentence.ts'

const root = join(import.meta.dirname, '../..')

/** `llms.txt`: all documents with their first sentences, so that a reader can choose without opening each. */
export function llmsText(): string {
  const readme = read('README.md')
  return [
    `# ${titleOf(readme)}`,
    `> ${firstSentence(readme)}`,
    'Derived by `pnpm derive` from the first sentence of each page. A running server describes itself at `/v1/openapi.json`, ' +
      '`/v1/asyncapi.json` and, for people, `/v1/docs`.',
    section('Guides', guides(readme)),
    section('Reference', pagesBelow('docs/reference')),
    '- [config.schema.json](docs/reference/config.schema.json): JSON Schema of the configuration, for editors.',
    section('Contributing', ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'AGENTS.md']),
    section('Optional', pagesBelow('packages', 'README.md')),
    '',
  ]
    .join('\n\n')
    .replace(/\n\n(- \[config\.schema)/, '\n$1')
}

/** The guides in the order of the README. */
export const guides = (readme: string): readonly string[] => {
  const links = [...readme.matchAll(/\((docs\/guides\/[\w-]+\.md)\)/g)].map(([, path = '']) => path)
  const map = links.slice(links.lastIndexOf('docs/guides/first-five-minutes.md'))
  const rest = pagesBelow('docs/guides').filter((path) => !map.includes(path))
  if (rest.length > 0) throw new Error(`README.md does not link ${rest.join(', ')}`)
  return map
}

const pagesBelow = (folder: string, file?: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => file !== undefined || name.endsWith('.md'))
    .toSorted()
    .map((name) => (file === undefined ? `${folder}/${name}` : `${folder}/${name}/${file}`))

const section = (title: string, paths: readonly string[]): string =>
  [`## ${title}\n`, ...paths.map((path) => `- [${titleOf(read(path))}](${path}): ${firstSentence(read(path))}`)].join(
    '\n',
  )

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
