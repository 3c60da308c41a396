import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { changeTargets, headingsOf } from './markdown-text.ts'

const root = join(import.meta.dirname, '../..')

/** A link of a document: a path from the root of the repository, and an anchor. */
interface LinkTarget {
  readonly path: string
  readonly anchor: string
}

/** Returns where a link leads inside the repository, or undefined if it leads elsewhere. */
function targetOf(link: string, source: string): LinkTarget | undefined {
  if (/^[a-z]+:/.test(link)) return undefined
  const [path = '', anchor = ''] = link.split('#', 2)
  return { path: path === '' ? source : posix.join(dirname(source), path).replace(/\/$/, ''), anchor }
}

/** A copy of documents, such as the site: where each document is in the copy, by its path in the repository. */
export interface DocumentCopy {
  readonly places: ReadonlyMap<string, string>
  /** The URL of a file or folder that the copy does not contain. */
  readonly urlOf: (path: string) => string
}

/** Returns a document with links that are right where the copy has it. */
export function relinked(markdown: string, source: string, { places, urlOf }: DocumentCopy): string {
  const from = dirname(places.get(source) ?? source)
  return changeTargets(markdown, (link) => {
    const target = targetOf(link, source)
    if (target === undefined || link.startsWith('#')) return link
    const hash = target.anchor === '' ? '' : `#${target.anchor}`
    const place = places.get(target.path)
    return `${place === undefined ? urlOf(target.path) : posix.relative(from, place)}${hash}`
  })
}

/** The URL of a file or folder on the host of the repository. */
export function repositoryUrl(path: string): string {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const url = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
  return `${url}/${existsSync(join(root, path)) && statSync(join(root, path)).isDirectory() ? 'tree' : 'blob'}/main/${path}`
}

interface Manifest {
  readonly repository: { readonly url: string }
}

/** Returns the links of a document that name a missing file or a missing heading. */
export function brokenLinks(markdown: string, source: string): readonly string[] {
  const broken: string[] = []
  changeTargets(markdown, (link) => {
    const target = targetOf(link, source)
    if (target !== undefined && !isThere(target)) broken.push(`${source}: ${link}`)
    return link
  })
  return broken
}

function isThere({ path, anchor }: LinkTarget): boolean {
  if (path.startsWith('..') || !existsSync(join(root, path))) return false
  if (anchor === '') return true
  return path.endsWith('.md') && anchorsOf(path).has(anchor)
}

const anchors = new Map<string, ReadonlySet<string>>()

function anchorsOf(path: string): ReadonlySet<string> {
  const known = anchors.get(path)
  if (known !== undefined) return known
  const found = new Set(headingsOf(readFileSync(join(root, path), 'utf8')).map(({ anchor }) => anchor))
  anchors.set(path, found)
  return found
}
