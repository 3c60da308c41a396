import { globSync, readFileSync } from 'node:fs'
import { basename, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The templates, each with what a project made from it contains. */
export const TEMPLATES = {
  workflow: 'an agent and a workflow with an approval, served by perdure dev',
  chat: 'a chat page and its agent, with tools and an approval',
  'embed-express': 'an Express app that serves Perdure beside its own routes',
  'embed-next': 'a Next.js app with Perdure in its route handlers',
} as const

export type TemplateName = keyof typeof TEMPLATES

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as readonly TemplateName[]
export const DEFAULT_TEMPLATE: TemplateName = 'workflow'

/** A file of a new project. */
export interface TemplateFile {
  /** Path in the project, with `/`. */
  readonly path: string
  readonly text: string
}

/** The files of a new project: those of the template and those that all templates share, sorted by path. */
export function readTemplate(template: TemplateName, { name }: { readonly name: string }): readonly TemplateFile[] {
  const version = readVersion()
  const files = new Map(
    ['shared', template].flatMap((folder) =>
      filesIn(folder).map((path) => [projectPath(path), [folder, path]] as const),
    ),
  )
  return [...files]
    .map(([path, [folder, source]]) => ({
      path,
      text: readFileSync(packageFile(`templates/${folder}/${source}`), 'utf8')
        .replaceAll('$version', version)
        .replaceAll('$name', name),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

const filesIn = (folder: string): readonly string[] => {
  const cwd = fileURLToPath(packageFile(`templates/${folder}`))
  return globSync('**/*', { cwd, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}${sep}${entry.name}`.slice(cwd.length + 1).replaceAll(sep, '/'))
}

/** npm packs no file of the name `.gitignore`, and `globSync` finds no folder that begins with a dot. */
const projectPath = (path: string): string =>
  basename(path) === 'gitignore' ? `.${path}` : path.replace(/^dot-agents\//, '.agents/')

/** The version of this package, which is also that of `perdure`. */
const readVersion = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { readonly version: string }).version

/** URL of a file in this package. This module is one folder below the package root, both in `src` and in `dist`. */
const packageFile = (path: string): URL => new URL(`../${path}`, import.meta.url)
