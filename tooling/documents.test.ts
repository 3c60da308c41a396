import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sitePages } from '../apps/site/src/site-pages.ts'
import { root } from './consumer/packages.ts'
import { changeLog } from './documents/change-log.ts'
import { readDocument } from './documents/document-list.ts'
import { GUIDE_GROUPS } from './documents/guide-groups.ts'
import { brokenLinks, relinked } from './documents/links.ts'
import { changeProse, changeTargets, headingsOf } from './documents/markdown-text.ts'
import { packedDocuments } from './documents/packed-documents.ts'

/** What an install of `perdure` may grow by. */
const MOST_BYTES_OF_DOCUMENTS = 900_000

const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && !path.startsWith('packages/create-perdure/templates/'))

/** The relative links of a Markdown text, without those that stay on the page. */
function relativeLinks(markdown: string): readonly string[] {
  const links: string[] = []
  changeTargets(markdown, (link) => {
    if (!/^(?:[a-z]+:|#|\/)/.test(link)) links.push(link)
    return link
  })
  return links
}

/** The links between texts that lead to no text, or to a heading that it does not have. */
function danglingLinks(texts: ReadonlyMap<string, string>): readonly string[] {
  return [...texts].flatMap(([path, text]) =>
    relativeLinks(text)
      .filter((link) => {
        const [file = '', anchor] = link.split('#', 2)
        const found = texts.get(posix.join(dirname(path), file))
        return found === undefined || (anchor !== undefined && !headingsOf(found).some((one) => one.anchor === anchor))
      })
      .map((link) => `${path}: ${link}`),
  )
}

describe('the groups of guides', () => {
  it('contain each guide once', () => {
    const guides = readdirSync(`${root}/docs/guides`).filter((name) => name.endsWith('.md'))

    expect(
      Object.values(GUIDE_GROUPS)
        .flat()
        .map((name) => `${name}.md`)
        .sort(),
    ).toEqual(guides.sort())
  })
})

describe('a document of the repository', () => {
  it('links only files, folders and headings that exist', () => {
    expect(documents.length).toBeGreaterThan(150)
    expect(documents.flatMap((path) => brokenLinks(readDocument(path), path))).toEqual([])
  })

  it('has no link in a heading, because `perdure docs search` shows headings as text', () => {
    const searched = documents.filter((path) => /^docs\/(?:guides|reference)\//.test(path))
    const linked = searched.filter((path) => /^#+ .*\]\(/m.test(readDocument(path)))

    expect(searched.length).toBeGreaterThan(50)
    expect(linked).toEqual([])
  })

  it('is reported for a missing file, a missing heading and a heading of a file that has none', () => {
    const markdown =
      '[a](../../README.md#try-it) [b](missing.md) [c](../../README.md#missing) [d](#missing) [e](../../LICENSE#x) `[f](code.md)`'

    expect(brokenLinks(markdown, 'docs/guides/why.md')).toEqual([
      'docs/guides/why.md: missing.md',
      'docs/guides/why.md: ../../README.md#missing',
      'docs/guides/why.md: #missing',
      'docs/guides/why.md: ../../LICENSE#x',
    ])
  })
})

describe('the pages of the site', () => {
  const pages = new Map(sitePages().map(({ path, markdown }) => [path, markdown]))

  it('contain every guide, every page of the reference and every decision', () => {
    const expected = documents.filter((path) => /^docs\/(?:guides|reference|adr)\//.test(path))
    const places = expected.map((path) => path.replace('docs/', '').replace('adr/README.md', 'adr/index.md'))

    expect(places.filter((path) => !pages.has(path))).toEqual([])
    expect(pages.get('changelog.md')).toBe(changeLog())
  })

  it('link only pages, files of the site and the repository', () => {
    const files = [
      ['reference/config.schema.json', ''],
      ['llms.txt', ''],
    ] as const

    expect(danglingLinks(new Map([...pages, ...files]))).toEqual([])
  })
})

describe('the change log', () => {
  it('lists each change set once, below the heading of its kind', () => {
    const changeSets = readdirSync(`${root}/.changeset`).filter((name) => name.endsWith('.md'))
    const isMinor = (name: string) => /: minor$/m.test(readDocument(`.changeset/${name}`).split('---')[1] ?? '')
    const unreleased = changeLog()
      .split('\n## ')
      .find((part) => part.startsWith('Not released yet\n'))
    const listed = new Map(
      unreleased
        ?.split('\n### ')
        .slice(1)
        .map((part) => [part.split('\n', 1)[0], part.match(/^- /gm)?.length]),
    )

    const minor = changeSets.filter(isMinor).length
    expect(listed.get('Minor Changes') ?? 0).toBe(minor)
    expect(listed.get('Patch Changes') ?? 0).toBe(changeSets.length - minor)
  })
})

describe('the documents of the package', () => {
  const packed = packedDocuments()

  it('link only each other and the repository', () => {
    expect(packed.size).toBeGreaterThan(50)
    expect(danglingLinks(packed)).toEqual([])
  })

  it('show no picture and stay below their size', () => {
    const bytes = [...packed.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)

    expect([...packed].filter(([, text]) => /!\[[^\]]*\]\(/.test(text)).map(([path]) => path)).toEqual([])
    expect(bytes).toBeLessThan(MOST_BYTES_OF_DOCUMENTS)
  })
})

describe('relinked', () => {
  const copy = {
    places: new Map([
      ['docs/guides/a.md', 'guides/a.md'],
      ['docs/reference/b.md', 'reference/b.md'],
    ]),
    urlOf: (path: string) => `host:${path}`,
  }

  it('keeps links on the page and to other hosts, and changes the others to where the copy has the document', () => {
    const markdown = '[1](#x) [2](https://example.com) [3](../reference/b.md#y) [4](../../LICENSE) `[5](c.md)`\n'

    expect(relinked(markdown, 'docs/guides/a.md', copy)).toBe(
      '[1](#x) [2](https://example.com) [3](../reference/b.md#y) [4](host:LICENSE) `[5](c.md)`\n',
    )
    expect(relinked('[1](docs/guides/a.md)', 'README.md', copy)).toBe('[1](guides/a.md)')
  })
})

describe('changeProse', () => {
  it('leaves inline code and fenced blocks as they are', () => {
    const markdown = 'a `a` ``a ` a`` a\n\n```sh\na\n```\n\n- a\n\n  ```\n  a\n  ```\n  a\n'

    expect(changeProse(markdown, (text) => text.replaceAll('a', 'b'))).toBe(
      'b `a` ``a ` a`` b\n\n```sh\na\n```\n\n- b\n\n  ```\n  a\n  ```\n  b\n',
    )
  })
})

describe('headingsOf', () => {
  it('derives anchors as GitHub does and numbers duplicates', () => {
    const markdown =
      "# A `b.c()` & [d](e.md)\n\n```sh\n# no heading\n```\n\n## Don't: é_1\n\n## Don't: é_1\n\n### x \\<y>\n"

    expect(headingsOf(markdown).map(({ anchor, line }) => [anchor, line])).toEqual([
      ['a-bc--d', 1],
      ['dont-é_1', 7],
      ['dont-é_1-1', 9],
      ['x-y', 11],
    ])
  })
})
