import type { Document } from './documents.ts'

/** A heading of a document with the text until the next heading. */
export interface Section {
  /** The title of the document. */
  readonly title: string
  readonly section: string
  readonly path: string
  /** Line number of the heading. */
  readonly line: number
  readonly text: string
}

/** Splits a document at its headings; `#` in code is no heading. */
export function splitSections({ path, text }: Document): readonly Section[] {
  const sections: { section: string; line: number; lines: string[] }[] = []
  let isCode = false
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*```/.test(line)) isCode = !isCode
    const heading = isCode ? undefined : /^#{1,6} (.+)$/.exec(line)?.[1]
    if (heading !== undefined) sections.push({ section: plain(heading), line: index + 1, lines: [] })
    else sections.at(-1)?.lines.push(line)
  }
  const title = sections[0]?.section ?? ''
  return sections.map(({ section, line, lines }) => ({ title, section, path, line, text: lines.join('\n') }))
}

/** A heading without marks of code and escapes; headings have no links. */
const plain = (heading: string): string => heading.replace(/`|\\(?=\W)/g, '')
