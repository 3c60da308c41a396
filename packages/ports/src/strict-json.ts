import { numberProblem } from './number-problem.ts'
import { perdureError } from './perdure-error.ts'

const MAX_DEPTH = 64
/** Members of all objects, plus the objects and arrays that are elements of an array. */
const MAX_MEMBERS = 20_000
/** Values of every kind, so that an array may hold many numbers: these cost less than members. */
const MAX_VALUES = 100_000

/**
 * Parses untrusted bytes as one JSON document. Accepts what `JSON.parse` accepts, except a byte order mark, duplicate
 * member names, the name `__proto__`, nesting deeper than 64, more than 20,000 members or 100,000 values, numbers that
 * would lose precision, and lone surrogates. The limits bound the time for which a document blocks the event loop.
 *
 * @throws PerdureError `invalid-json` with the problem and its character position
 */
export const parseStrictJson = (bytes: Uint8Array): unknown => parseStrictText(decodeUtf8(bytes))

/** Like `parseStrictJson`, for text that a client, a model or a tool has sent. @throws PerdureError `invalid-json` */
export function parseStrictText(text: string): unknown {
  scanDocument({ text, open: [], at: 0, members: 0, values: 0 })
  return JSON.parse(text)
}

/**
 * The value of a text that is JSON, and the text itself otherwise.
 *
 * @throws PerdureError `invalid-json` for JSON that `parseStrictText` refuses
 */
export function jsonOrText(text: string): unknown {
  try {
    return parseStrictText(text)
  } catch (refusal) {
    if (isJson(text)) throw refusal
    return text
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    return !(error instanceof SyntaxError)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw perdureError('invalid-json', { message: 'the body is not UTF-8' })
  }
}

/** An open object or array. `names` holds the members of an object. */
interface Open {
  readonly names: Set<string> | undefined
}

type Expected = 'value' | 'first-item' | 'name' | 'first-name' | 'next'

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERAL = /true|false|null/y
const ESCAPE =
  /\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})/y
const LONE_SURROGATE = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}/y

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

const isSpace = (code: number) => code === SPACE || code === 0x0a || code === 0x0d || code === 0x09

/** The state of the scan, which does not recurse. */
interface Walk {
  readonly text: string
  readonly open: Open[]
  at: number
  members: number
  values: number
}

function scanDocument(walk: Walk): void {
  const { text, open } = walk
  if (text.charCodeAt(0) === 0xfeff) fail(walk, 'byte order mark')
  let expected: Expected = 'value'
  do {
    skipWhitespace(walk)
    expected = STEPS[expected](walk)
  } while (expected !== 'next' || open.length > 0)
  skipWhitespace(walk)
  if (walk.at < text.length) fail(walk, 'unexpected character after the document')
}

function fail(walk: Walk, problem: string, where = walk.at): never {
  throw perdureError('invalid-json', { message: `${problem} at character ${where}` })
}

function skipWhitespace(walk: Walk): void {
  const { text } = walk
  for (let code = text.charCodeAt(walk.at); code <= SPACE && isSpace(code); code = text.charCodeAt(walk.at)) walk.at++
}

function take(walk: Walk, pattern: RegExp): boolean {
  pattern.lastIndex = walk.at
  const isThere = pattern.test(walk.text)
  if (isThere) walk.at = pattern.lastIndex
  return isThere
}

function takeCode(walk: Walk, code: number): boolean {
  if (walk.text.charCodeAt(walk.at) !== code) return false
  walk.at++
  return true
}

function failEscape(walk: Walk): never {
  const start = walk.at
  return fail(walk, take(walk, LONE_SURROGATE) ? 'lone surrogate' : 'malformed escape', start)
}

function scanString(walk: Walk): string {
  const { text } = walk
  const start = walk.at++
  while (walk.at < text.length) {
    const code = text.charCodeAt(walk.at)
    if (code === QUOTE) return text.slice(start, ++walk.at)
    if (code < 0x20) fail(walk, 'control character in a string')
    if (code !== BACKSLASH) walk.at++
    else if (!take(walk, ESCAPE)) failEscape(walk)
  }
  return fail(walk, 'unfinished string', start)
}

function scanNumber(walk: Walk): boolean {
  const start = walk.at
  if (!take(walk, NUMBER)) return false
  const problem = numberProblem(walk.text, start, walk.at)
  if (problem !== undefined) fail(walk, problem, start)
  return true
}

function enter(walk: Walk, names: Open['names']): void {
  const { open } = walk
  if (open.length === MAX_DEPTH) fail(walk, `nesting deeper than ${MAX_DEPTH}`, walk.at - 1)
  if (open.length > 0 && open.at(-1)?.names === undefined) countMember(walk, walk.at - 1)
  open.push({ names })
}

function countMember(walk: Walk, where: number): void {
  if (++walk.members > MAX_MEMBERS) failCount(`more than ${MAX_MEMBERS} members`, where)
}

function failCount(problem: string, where: number): never {
  throw perdureError('invalid-json', {
    message: `${problem} at character ${where}`,
    hint: `send at most ${MAX_MEMBERS} members and ${MAX_VALUES} values: split the data, or send it as one string`,
  })
}

function scanValue(walk: Walk): Expected {
  if (++walk.values > MAX_VALUES) failCount(`more than ${MAX_VALUES} values`, walk.at)
  if (takeCode(walk, OPEN_BRACE)) {
    enter(walk, new Set())
    return 'first-name'
  }
  if (takeCode(walk, OPEN_BRACKET)) {
    enter(walk, undefined)
    return 'first-item'
  }
  const { text, at } = walk
  if (text.charCodeAt(at) === QUOTE) scanString(walk)
  else if (!scanNumber(walk) && !take(walk, LITERAL)) {
    fail(walk, at < text.length ? 'unexpected character' : 'unexpected end')
  }
  return 'next'
}

function scanName(walk: Walk): Expected {
  const start = walk.at
  if (walk.text.charCodeAt(start) !== QUOTE) fail(walk, 'expected a member name')
  const quoted = scanString(walk)
  const name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
  const names = walk.open.at(-1)?.names
  if (name === '__proto__') fail(walk, 'member name "__proto__" is not allowed', start)
  if (names?.has(name)) fail(walk, `duplicate member ${JSON.stringify(name.slice(0, 64))}`, start)
  names?.add(name)
  countMember(walk, start)
  skipWhitespace(walk)
  if (!takeCode(walk, COLON)) fail(walk, 'expected ":"')
  return 'value'
}

function close({ open }: Walk): Expected {
  open.pop()
  return 'next'
}

function scanNext(walk: Walk): Expected {
  const isObject = walk.open.at(-1)?.names !== undefined
  if (takeCode(walk, COMMA)) return isObject ? 'name' : 'value'
  if (takeCode(walk, isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return close(walk)
  return fail(walk, `expected "," or "${isObject ? '}' : ']'}"`)
}

const STEPS: Readonly<Record<Expected, (walk: Walk) => Expected>> = {
  value: scanValue,
  'first-item': (walk) => (takeCode(walk, CLOSE_BRACKET) ? close(walk) : scanValue(walk)),
  name: scanName,
  'first-name': (walk) => (takeCode(walk, CLOSE_BRACE) ? close(walk) : scanName(walk)),
  next: scanNext,
}
