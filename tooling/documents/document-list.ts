import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstSentence, titleOf } from './first-sentence.ts'
import { GUIDE_GROUPS } from './guide-groups.ts'

const root = join(import.meta.dirname, '../..')

export const readDocument = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The paths of the Markdown documents in a folder of the repository, without its README. */
export const documentsIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => `${folder}/${name}`)

export const guidePath = (name: string): string => `docs/guides/${name}.md`

/** One line for each document: its title as a link, and its first sentence. */
const linesOf = (paths: readonly string[]): string =>
  paths
    .map((path) => [path, readDocument(path)] as const)
    .map(([path, text]) => `- [${titleOf(text)}](${path.replace('docs/', '')}): ${firstSentence(text)}`)
    .join('\n')

/** The guides by task, with links relative to `docs`. */
export const guideList = (): string =>
  Object.entries(GUIDE_GROUPS)
    .map(([task, names]) => `## ${task}\n\n${linesOf(names.map(guidePath))}`)
    .join('\n\n')

/** The pages of the reference, with links relative to `docs`. */
export const referenceList = (): string =>
  [
    linesOf(documentsIn('docs/reference')),
    '- [config.schema.json](reference/config.schema.json): JSON Schema of the configuration, for editors.',
  ].join('\n')
