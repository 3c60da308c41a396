import { perdureError } from '../perdure-error.ts'
import { numberProblem } from './number-problem.ts'

const MAX_DEPTH = 64

/** How much a document may hold. */
export interface JsonLimits {
  /** Members of all objects, plus the objects and arrays that are elements of an array. */
  readonly members: number
  /** Values of every kind, so that an array may hold many numbers: these cost less than members. */
  readonly values: number
  /** Members of one object; on the first three levels; and on the next two within one element of a list on the second level. */
  readonly outer: number
}

/** An open object or array. `names` holds the members of an object. */
export interface Open {
  readonly names: Set<string> | undefined
  readonly start: number
  /** The newest member of an object, and where its name begins. */
  name: string
  nameAt: number
  /** The part that has been built, if the document is built in parts, and where the text of the rest begins. */
  built?: unknown[] | Record<string, unknown>
  from: number
}

export type Expected = 'value' | 'first-item' | 'name' | 'first-name' | 'next'

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
export interface Walk {
  readonly text: string
  readonly limits: JsonLimits
  readonly open: Open[]
  expected: Expected
  at: number
  members: number
  values: number
  outer: number
  /** Members on the fourth and fifth level, within the present element of the list on the second level. */
  inner: number
  /** The document, if it has been built in parts. */
  built?: unknown
}

export const beginScan = (text: string, limits: JsonLimits): Walk => ({
  ...{ text, limits, open: [], expected: 'value', at: 0, members: 0, values: 0, outer: 0, inner: 0 },
})

/**
 * Scans up to the end of the document, or to the first comma after a character. @returns whether the document has ended
 *
 * @throws PerdureError `invalid-json`
 */
export function scan(walk: Walk, until = Number.POSITIVE_INFINITY): boolean {
  const { text, open } = walk
  if (text.charCodeAt(0) === 0xfeff) fail(walk, 'byte order mark')
  do {
    skipWhitespace(walk)
    const wasComma = walk.expected === 'next' && text.charCodeAt(walk.at) === COMMA
    walk.expected = STEPS[walk.expected](walk)
    if (wasComma && walk.at >= until) return false
  } while (walk.expected !== 'next' || open.length > 0)
  skipWhitespace(walk)
  if (walk.at < text.length) fail(walk, 'unexpected character after the document')
  return true
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
  open.push({ names, start: walk.at - 1, from: walk.at, name: '', nameAt: 0 })
}

const OUTER_LEVELS = 3
const INNER_LEVELS = 5

function countMember(walk: Walk, where: number): void {
  const { limits, open } = walk
  if (++walk.members > limits.members) failCount(walk, `more than ${limits.members} members`, where)
  const level = open.length
  if (level <= OUTER_LEVELS) {
    if (level < OUTER_LEVELS) walk.inner = 0
    if (++walk.outer > limits.outer) failCount(walk, `more than ${limits.outer} members on the first 3 levels`, where)
  } else if (level <= INNER_LEVELS && ++walk.inner > limits.outer) {
    failCount(walk, `more than ${limits.outer} members on levels 4 and 5 of one element`, where)
  }
}

function failCount({ limits: { members, values } }: Walk, problem: string, where: number): never {
  throw perdureError('invalid-json', {
    message: `${problem} at character ${where}`,
    hint: `send at most ${members} members and ${values} values: split the data, or send it as one string`,
  })
}

function scanValue(walk: Walk): Expected {
  const { limits } = walk
  if (++walk.values > limits.values) failCount(walk, `more than ${limits.values} values`, walk.at)
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
  const parent = walk.open.at(-1) as Open
  const { names } = parent
  if (name === '__proto__') fail(walk, 'member name "__proto__" is not allowed', start)
  if (names?.has(name)) fail(walk, `duplicate member ${JSON.stringify(name.slice(0, 64))}`, start)
  names?.add(name)
  parent.name = name
  parent.nameAt = start
  countMember(walk, start)
  const { outer } = walk.limits
  if ((names?.size ?? 0) > outer) failCount(walk, `more than ${outer} members of one object`, start)
  skipWhitespace(walk)
  if (!takeCode(walk, COLON)) fail(walk, 'expected ":"')
  return 'value'
}

function close(walk: Walk): Expected {
  const closed = walk.open.pop()
  if (closed?.built !== undefined) completePart(walk, closed)
  return 'next'
}

/** Builds the text that is scanned so far. Call it after `scan` has returned false. */
export function buildScanned({ text, open, at }: Walk): void {
  for (const [depth, one] of open.entries()) {
    const child = open[depth + 1]
    build(text, one, child === undefined ? at : one.names === undefined ? child.start : one.nameAt)
  }
}

function completePart(walk: Walk, closed: Open): void {
  build(walk.text, closed, walk.at - 1)
  const parent = walk.open.at(-1)
  if (parent === undefined) walk.built = closed.built
  else {
    add(parent, parent.names === undefined ? [closed.built] : { [parent.name]: closed.built })
    parent.from = walk.at
  }
}

/** Builds the members or elements between `from` and a position of the text. */
function build(text: string, one: Open, end: number): void {
  const pending = text.slice(one.from, end).trim()
  const rest = pending.startsWith(',') ? pending.slice(1) : pending
  const inner = rest.endsWith(',') ? rest.slice(0, -1) : rest
  add(one, JSON.parse(one.names === undefined ? `[${inner}]` : `{${inner}}`) as unknown[] | Record<string, unknown>)
  one.from = Math.max(one.from, end)
}

function add(to: Open, added: unknown[] | Record<string, unknown>): void {
  if (to.built === undefined) to.built = added
  else if (Array.isArray(to.built)) for (const element of added as unknown[]) to.built.push(element)
  else Object.assign(to.built, added)
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
