import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'

/** A text for readers: a paragraph, a comment, a title, or a message. */
export interface ProseText {
  readonly path: string
  /** Line number of its first character. */
  readonly line: number
  readonly text: string
  readonly isHeading: boolean
}

/** Returns the texts of a Markdown document or of the comments, titles and messages of a module. */
export function proseOf(path: string, source = readFileSync(path, 'utf8')): readonly ProseText[] {
  const texts = path.endsWith('.md') ? markdownTexts(source) : moduleTexts(path, source)
  const lineAt = lineCounter(source)
  return texts
    .map(({ start, text, isHeading = false }) => ({ path, line: lineAt(start), text: plain(text), isHeading }))
    .filter(({ text }) => /\w/.test(text))
}

interface Span {
  readonly start: number
  readonly text: string
  readonly isHeading?: boolean
}

/** Replaces inline code and markup, so that a rule sees only words. */
const plain = (text: string): string =>
  text
    .replace(/`[^`]*`/g, 'x')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/[*_[\]]+/g, '')
    .replace(/\s+/g, ' ')
    .trim()

function lineCounter(source: string): (offset: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (offset) => {
    const next = starts.findIndex((start) => start > offset)
    return next === -1 ? starts.length : next
  }
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

/** Paragraphs, headings, list items and table cells; code blocks and HTML comments are left out. */
function markdownTexts(source: string): readonly Span[] {
  const prose = source
    .replace(/^( *)(```+|~~~+)[^\n]*\n[\s\S]*?^\1\2 *$/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/^---\n[\s\S]*?^---$/m, blank)
  return [...prose.matchAll(MARKDOWN_BLOCK)].flatMap(({ index, 0: block }) => {
    const cells = /^\s*\|/.test(block) ? [...block.matchAll(/[^|\n]+/g)] : [...block.matchAll(/[\s\S]+/g)]
    const isHeading = /^\s*#/.test(block)
    return cells.map((cell) => ({
      start: index + cell.index,
      text: cell[0].replace(/^[\s>#*-]+|^\s*\d+\.\s/g, ''),
      isHeading,
    }))
  })
}

/** A block ends at a blank line, before a list item, a table row or a heading, and after a heading. */
const MARKDOWN_BLOCK = /^[ \t]*(?:#[^\n]*|\S[^\n]*(?:\n(?!\s*(?:[-*] |\d+\. |[|#>]|\n|$))[^\n]*\S[^\n]*)*)/gm

interface AstNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly value?: unknown
  readonly name?: string
  readonly quasis?: readonly { readonly value: { readonly cooked?: string } }[]
  readonly callee?: AstNode
  readonly arguments?: readonly AstNode[]
  readonly object?: AstNode
  readonly property?: AstNode
  readonly tag?: AstNode
  readonly key?: AstNode
  readonly left?: AstNode
  readonly right?: AstNode
  readonly elements?: readonly AstNode[]
}

function moduleTexts(path: string, source: string): readonly Span[] {
  const texts: Span[] = []
  let code = source
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('type' in node) {
      const one = node as AstNode
      if (one.type === 'Literal' || one.type === 'TemplateElement') {
        code = code.slice(0, one.start) + blank(code.slice(one.start, one.end)) + code.slice(one.end)
      }
      texts.push(...spokenBy(one), ...stringOf(one).filter(({ text }) => SENTENCE.test(text)))
    }
    for (const member of Object.values(node)) visit(member)
  }
  visit(parseAst(source, { lang: path.endsWith('ts') ? 'ts' : 'js' }, path))
  return [...texts, ...comments(code, source)]
}

/** A block comment, or adjacent lines of line comments. */
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/g

/** `code` has no literals, so `//` begins a comment wherever it occurs; `source` has the words in backticks. */
const comments = (code: string, source: string): readonly Span[] =>
  [...code.matchAll(COMMENT)].map(({ index, 0: { length } }) => ({
    start: index,
    text: source
      .slice(index, index + length)
      .replace(/^\/\*\*?|\*\/$/g, '')
      .replace(/^\s*(?:\*|\/\/)/gm, '')
      .replace(/@\w+/g, '. '),
  }))

/** A string this long is a text for readers wherever it occurs. */
const SENTENCE = /(?:\S+ ){3}\S/

const CALLS =
  /^(?:it|test|describe|info|warn|error|debug|log|note|say|Error|TypeError|PerdureError|perdureError|StartError)$/
const PROPERTIES = /^(?:summary|description|title|hint|message|note|help|meaning|purpose)$/

/** The titles, messages and descriptions that a call or a property holds. */
function spokenBy({ type, callee, arguments: given = [], key, value }: AstNode): readonly Span[] {
  if ((type === 'CallExpression' || type === 'NewExpression') && CALLS.test(nameOf(callee))) {
    return given.flatMap((one) => stringOf(one))
  }
  if (type === 'Property' && PROPERTIES.test(key?.name ?? '')) return stringOf(value as AstNode)
  return []
}

/** The name of the called function: `it` for `it.each(rows)(…)`, `info` for `logger.info(…)`. */
function nameOf(callee: AstNode | undefined): string {
  if (callee === undefined) return ''
  if (callee.type === 'Identifier') return callee.name ?? ''
  if (callee.type === 'CallExpression') return nameOf(callee.callee)
  if (callee.type === 'TaggedTemplateExpression') return nameOf(callee.tag)
  const own = callee.property?.name ?? ''
  return /^(?:each|only|skip|skipIf|runIf|concurrent|for)$/.test(own) ? nameOf(callee.object) : own
}

/** A string, a template without its values, or a concatenation of both. */
function stringOf(node: AstNode | undefined): readonly Span[] {
  if (node === undefined) return []
  const { type, start, value, quasis = [] } = node
  if (type === 'Literal' && typeof value === 'string') return [{ start, text: value }]
  if (type === 'TemplateLiteral') return [{ start, text: quasis.map((one) => one.value.cooked ?? '').join('x') }]
  if (type !== 'BinaryExpression') return []
  const [first, second] = [stringOf(node.left)[0], stringOf(node.right)[0]]
  return [{ start, text: `${first?.text ?? 'x'}${second?.text ?? 'x'}` }]
}
