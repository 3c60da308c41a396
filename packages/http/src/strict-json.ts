import { AppError } from '@berth/ports'
import { numberProblem } from './number-problem.ts'

const MAX_DEPTH = 64

/**
 * Parses one JSON document of bytes that come from outside. Accepts what `JSON.parse` accepts, less a byte order mark,
 * duplicate member names, the name `__proto__`, nesting deeper than 64, numbers that would change and lone surrogates.
 *
 * @throws AppError `invalid-json` that says what is wrong and at which character
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes)
  createScanner(text).scanDocument()
  return JSON.parse(text)
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new AppError('invalid-json', { message: 'the body is not UTF-8' })
  }
}

/** An object or array that is not closed yet. `names` are the members of an object. */
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

/** Walks the text once, without recursion. */
function createScanner(text: string) {
  const open: Open[] = []
  let at = 0

  const fail = (problem: string, where = at): never => {
    throw new AppError('invalid-json', { message: `${problem} at character ${where}` })
  }

  const skipWhitespace = () => {
    for (let code = text.charCodeAt(at); code <= SPACE && isSpace(code); code = text.charCodeAt(at)) at++
  }

  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const isThere = pattern.test(text)
    if (isThere) at = pattern.lastIndex
    return isThere
  }

  const takeCode = (code: number): boolean => {
    if (text.charCodeAt(at) !== code) return false
    at++
    return true
  }

  const failEscape = () => {
    const start = at
    return fail(take(LONE_SURROGATE) ? 'lone surrogate' : 'malformed escape', start)
  }

  const scanString = (): string => {
    const start = at++
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) return text.slice(start, ++at)
      if (code < 0x20) fail('control character in a string')
      if (code !== BACKSLASH) at++
      else if (!take(ESCAPE)) failEscape()
    }
    return fail('unfinished string', start)
  }

  const scanNumber = (): boolean => {
    const start = at
    if (!take(NUMBER)) return false
    const problem = numberProblem(text.slice(start, at))
    if (problem !== undefined) fail(problem, start)
    return true
  }

  const enter = (names: Open['names']) => {
    if (open.length === MAX_DEPTH) fail(`nesting deeper than ${MAX_DEPTH}`, at - 1)
    open.push({ names })
  }

  const scanValue = (): Expected => {
    if (takeCode(OPEN_BRACE)) {
      enter(new Set())
      return 'first-name'
    }
    if (takeCode(OPEN_BRACKET)) {
      enter(undefined)
      return 'first-item'
    }
    if (text.charCodeAt(at) === QUOTE) scanString()
    else if (!scanNumber() && !take(LITERAL)) fail(at < text.length ? 'unexpected character' : 'unexpected end')
    return 'next'
  }

  const scanName = (): Expected => {
    const start = at
    if (text.charCodeAt(at) !== QUOTE) fail('a member name was expected')
    const quoted = scanString()
    const name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
    const names = open.at(-1)?.names
    if (name === '__proto__') fail('the member name "__proto__" is forbidden', start)
    if (names?.has(name)) fail(`duplicate member ${JSON.stringify(name.slice(0, 64))}`, start)
    names?.add(name)
    skipWhitespace()
    if (!takeCode(COLON)) fail('":" was expected')
    return 'value'
  }

  const close = (): Expected => {
    open.pop()
    return 'next'
  }

  const scanNext = (): Expected => {
    const isObject = open.at(-1)?.names !== undefined
    if (takeCode(COMMA)) return isObject ? 'name' : 'value'
    if (takeCode(isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return close()
    return fail(`"," or "${isObject ? '}' : ']'}" was expected`)
  }

  const steps: Readonly<Record<Expected, () => Expected>> = {
    value: scanValue,
    'first-item': () => (takeCode(CLOSE_BRACKET) ? close() : scanValue()),
    name: scanName,
    'first-name': () => (takeCode(CLOSE_BRACE) ? close() : scanName()),
    next: scanNext,
  }

  return {
    scanDocument() {
      if (text.charCodeAt(0) === 0xfeff) fail('byte order mark')
      let expected: Expected = 'value'
      do {
        skipWhitespace()
        expected = steps[expected]()
      } while (expected !== 'next' || open.length > 0)
      skipWhitespace()
      if (at < text.length) fail('unexpected character after the document')
    },
  }
}
