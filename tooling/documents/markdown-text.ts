/** Calls `change` with each part of a Markdown document that is not code: neither a fenced block nor inline code. */
export function changeProse(markdown: string, change: (text: string) => string): string {
  return markdown
    .split(FENCED)
    .map((part, index) => (index % 2 === 1 ? part : changeOutsideInlineCode(part, change)))
    .join('')
}

/** A fenced block with its fences, which may be indented as part of a list. */
const FENCED = /(^[ \t]*(?:```|~~~)[^\n]*\n(?:[^\n]*\n)*?[ \t]*(?:```|~~~)[ \t]*$)/m

const changeOutsideInlineCode = (text: string, change: (text: string) => string): string =>
  text
    .split(/((?<!`)(`+)(?!`)(?:(?!\n\n)[\s\S])*?(?<!`)\2(?!`))/)
    .map((part, index) => (index % 3 === 0 ? change(part) : index % 3 === 1 ? part : ''))
    .join('')

/** Replaces the target of each link and picture, as `](target)`, outside code. */
export const changeTargets = (markdown: string, change: (target: string) => string): string =>
  changeProse(markdown, (text) => text.replace(/\]\(([^()\s]+)\)/g, (_, target: string) => `](${change(target)})`))

/** A heading of a document, with the anchor that GitHub and the site give it. */
export interface Heading {
  readonly level: number
  readonly text: string
  readonly anchor: string
  /** Line number. */
  readonly line: number
}

export function headingsOf(markdown: string): readonly Heading[] {
  const seen = new Map<string, number>()
  const anchorOf = (text: string): string => {
    const slug = slugOf(text)
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
  return withBlankCode(markdown)
    .split('\n')
    .flatMap((line, index) => {
      const [, hashes, title] = /^(#{1,6}) (.+)$/.exec(line) ?? []
      if (hashes === undefined || title === undefined) return []
      const text = plainText(title)
      return [{ level: hashes.length, text, anchor: anchorOf(text), line: index + 1 }]
    })
}

/** The document with empty lines in place of its fenced blocks. */
const withBlankCode = (markdown: string): string =>
  markdown
    .split(FENCED)
    .map((part, index) => (index % 2 === 1 ? part.replace(/[^\n]/g, '') : part))
    .join('')

/** The words of a heading without links, marks of code and escapes. */
const plainText = (title: string): string =>
  title
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/`|\*\*/g, '')
    .replace(/\\(?=[<>[\]*_])/g, '')
    .trim()

/** The anchor of a heading as GitHub derives it, before duplicates get a number. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
