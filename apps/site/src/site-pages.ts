import { changeLog } from '../../../tooling/documents/change-log.ts'
import {
  documentsIn,
  guideList,
  guidePath,
  readDocument,
  referenceList,
} from '../../../tooling/documents/document-list.ts'
import { firstSentence, titleOf } from '../../../tooling/documents/first-sentence.ts'
import { GUIDE_GROUPS } from '../../../tooling/documents/guide-groups.ts'
import { type DocumentCopy, relinked, repositoryUrl } from '../../../tooling/documents/links.ts'
import { changeProse } from '../../../tooling/documents/markdown-text.ts'

/** A page of the site. */
interface SitePage {
  /** Its file in the pages that VitePress reads. */
  readonly path: string
  /** The Markdown as a reader may download it. */
  readonly markdown: string
}

/** Documents outside `docs`, and folders that have a page, with the page of each. */
const OTHER_PLACES: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'ARCHITECTURE.md': 'architecture.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'AGENTS.md': 'coding-agents.md',
  'docs/adr': 'adr/index.md',
  'docs/adr/README.md': 'adr/index.md',
  'docs/reference': 'reference/index.md',
  'docs/reference/config.schema.json': 'reference/config.schema.json',
  'llms.txt': 'llms.txt',
}

/** The documents that become a page, in the order of the table above, then the guides, the reference and the decisions. */
const SOURCES: readonly string[] = [
  ...Object.keys(OTHER_PLACES).filter((path) => path.endsWith('.md')),
  ...Object.values(GUIDE_GROUPS).flat().map(guidePath),
  ...documentsIn('docs/reference'),
  ...documentsIn('docs/adr'),
]

const isPicture = (path: string): boolean => path.endsWith('.webp')

const copy: DocumentCopy = {
  places: new Map([
    ...SOURCES.map((path) => [path, path.replace(/^docs\//, '')] as const),
    ...Object.entries(OTHER_PLACES),
  ]),
  urlOf: (path) => (isPicture(path) ? `/${path.replace(/^docs\//, '')}` : repositoryUrl(path)),
}

/** All pages of the site. */
export function sitePages(): readonly SitePage[] {
  const pages = SOURCES.map((source) => ({
    path: copy.places.get(source) ?? source,
    markdown: relinked(readDocument(source), source, copy),
  }))
  return [
    ...pages,
    { path: 'guides/index.md', markdown: listPage('Guides', 'The guides by task.', guideList()) },
    { path: 'reference/index.md', markdown: listPage('Reference', REFERENCE_TEXT, referenceList()) },
    { path: 'changelog.md', markdown: changeLog() },
  ]
}

const REFERENCE_TEXT = 'These pages are derived from the code.'

/** A page in a folder below the root, with links that are relative to `docs`. */
const listPage = (title: string, text: string, list: string): string =>
  `# ${title}\n\n${text}\n\n${list.replaceAll('](', '](../')}\n`

/** The page as VitePress reads it: HTML is shown as text, except line breaks in tables. */
export const forVitePress = ({ path, markdown }: SitePage): string => {
  const text = changeProse(markdown.replace(/^<!--.*?-->\n+/s, ''), (prose) =>
    prose.replace(/(?<!\\)<(?!br>)/g, '&lt;').replaceAll('{{', '&#123;&#123;'),
  )
  const shown = text.replace(/^!\[([^\]]*)\]\((\S+)\.webp\)$/gm, picture)
  return path === 'index.md' ? homePage(shown) : shown
}

/** A picture in the colours of the page. It links its file, because a narrow page shows it too small to read. */
const picture = (_: string, alt: string, file: string): string =>
  [
    `[![${alt}](${file}.webp)](${file}.webp){.in-light}`,
    `[![${alt}](${file}-dark.webp)](${file}-dark.webp){.in-dark}`,
  ].join('\n')

/** The README in a wide layout, with links to the pages to read next, and without its list of documents: the site has menus. */
function homePage(readme: string): string {
  const opening = `# ${titleOf(readme)}\n\n${firstSentence(readme)}\n`
  const [, rest = ''] = readme.split(opening, 2)
  const [body = ''] = rest.split('\n## Further reading\n', 1)
  return [
    '---',
    'titleTemplate: Durable agents and workflows',
    'pageClass: home',
    'sidebar: false',
    'aside: false',
    'prev: false',
    'next: false',
    '---',
    '',
    opening,
    '[Get started](guides/first-five-minutes.md){.action} [Why Perdure](guides/why.md){.action} [All guides](guides/index.md){.action}',
    body.replace('\n## ', '\n<RecordedTerminal />\n\n## '),
  ].join('\n')
}

/** `llms.txt` with links to the Markdown of the site's pages. */
export const llmsIndex = (): string => relinked(readDocument('llms.txt'), 'llms.txt', copy)

/** The guides and the reference in one text. */
export const llmsFull = (): string =>
  sitePages()
    .filter(({ path }) => /^(?:guides|reference)\//.test(path) && !path.endsWith('/index.md'))
    .map(({ path, markdown }) => `<!-- ${path} -->\n\n${markdown.replace(/^<!--.*?-->\n+/s, '').trim()}\n`)
    .join('\n')
