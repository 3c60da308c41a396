import { documentsIn, guideList, guidePath, readDocument, referenceList } from './document-list.ts'
import { GUIDE_GROUPS } from './guide-groups.ts'
import { type DocumentCopy, relinked, repositoryUrl } from './links.ts'

const SCHEMA = 'docs/reference/config.schema.json'
const sources = [...Object.values(GUIDE_GROUPS).flat().map(guidePath), ...documentsIn('docs/reference'), SCHEMA]

const copy: DocumentCopy = {
  places: new Map([
    ...sources.map((path) => [path, path.replace(/^docs\//, '')] as const),
    ['docs/reference', 'README.md'],
    ['README.md', 'README.md'],
  ]),
  urlOf: repositoryUrl,
}

/** The documents of the package `perdure` by their paths in its folder `docs`. Pictures stay in the repository. */
export function packedDocuments(): ReadonlyMap<string, string> {
  const documents = sources.map((path) => {
    const text = readDocument(path)
    const place = copy.places.get(path) ?? path
    return [place, path === SCHEMA ? text : relinked(withoutPictures(text), path, copy)] as const
  })
  return new Map([['README.md', index()], ...documents])
}

const withoutPictures = (markdown: string): string => markdown.replace(/!\[([^\]]*)\]\([^)]*\)/g, '(Picture: $1)')

const index = (): string =>
  [
    '# Documents of Perdure',
    'The guides by task, and the reference. `perdure docs search <words>` finds a section.',
    guideList(),
    '## Reference',
    `${referenceList()}\n`,
  ].join('\n\n')
