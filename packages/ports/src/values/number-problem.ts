/** Longest number beyond 2^53-1 that is accepted; no double needs more characters. */
const MAX_LENGTH = 40
/** Every decimal number of this many significant digits survives the conversion to a double and back. */
const EXACT_DIGITS = 15
/** The shortest decimal number that identifies a double never has more significant digits. */
const MOST_DIGITS = 17
/** Every number of this many digits before its point is finite. */
const FINITE_MAGNITUDE = 308
/** A larger exponent has the same effect: no number has this many digits. */
const MAX_EXPONENT = 1e15

/**
 * Explains why the JSON number between two positions of a text would lose precision. Values up to 2^53-1 are accepted.
 * Beyond that, integers are rejected, and so are numbers with a fraction or exponent that a double does not preserve
 * digit for digit. The digits decide most cases, because conversions to a double and back cost several times as much.
 */
export function numberProblem(text: string, start = 0, end = text.length): string | undefined {
  const { significant, magnitude, isPlain } = shapeOf(text, start, end)
  if (significant === 0 || magnitude <= EXACT_DIGITS) return undefined
  const isShort = significant <= EXACT_DIGITS && !isPlain && end - start <= MAX_LENGTH
  if (isShort && magnitude <= FINITE_MAGNITUDE) return undefined
  const number = text.slice(start, end)
  const value = Number(number)
  if (!Number.isFinite(value)) return 'number too large'
  if (isShort || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined
  const mayBeExact = !isPlain && significant <= MOST_DIGITS && number.length <= MAX_LENGTH
  return mayBeExact && digitsOf(number) === digitsOf(String(value))
    ? undefined
    : 'integer beyond 2^53-1 (send it as a string)'
}

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39

interface Shape {
  /** Number of digits without leading and trailing zeros. */
  readonly significant: number
  /** Position of the point behind the first significant digit, with the exponent applied. */
  readonly magnitude: number
  /** Whether there is neither a fraction nor an exponent. */
  readonly isPlain: boolean
}

function shapeOf(text: string, start: number, end: number): Shape {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start
  let pointAt: number | undefined
  let firstAt: number | undefined
  let lastAt = at
  for (; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === POINT) pointAt = at
    else if (code < ZERO || code > NINE) break
    else if (code !== ZERO) {
      firstAt ??= at
      lastAt = at
    }
  }
  const isPlain = pointAt === undefined && at === end
  if (firstAt === undefined) return { significant: 0, magnitude: 0, isPlain }
  const point = pointAt ?? at
  const hasPointWithin = firstAt < point && point < lastAt
  return {
    significant: lastAt - firstAt + (hasPointWithin ? 0 : 1),
    magnitude: point - firstAt + (point < firstAt ? 1 : 0) + exponentIn(text, at, end),
    isPlain,
  }
}

/** The exponent that starts with the letter at `at`; 0 if there is none. */
function exponentIn(text: string, at: number, end: number): number {
  let exponent = 0
  for (let index = at + 1; index < end; index++) {
    const digit = text.charCodeAt(index) - ZERO
    if (digit >= 0) exponent = Math.min(10 * exponent + digit, MAX_EXPONENT)
  }
  return text.charCodeAt(at + 1) === MINUS ? -exponent : exponent
}

/** Significant digits without leading and trailing zeros. */
function digitsOf(text: string): string {
  const exponentAt = Math.max(text.indexOf('e'), text.indexOf('E'))
  const mantissa = exponentAt === -1 ? text : text.slice(0, exponentAt)
  const dotAt = mantissa.indexOf('.')
  const digits = dotAt === -1 ? mantissa : mantissa.slice(0, dotAt) + mantissa.slice(dotAt + 1)
  let start = digits.startsWith('-') ? 1 : 0
  let end = digits.length
  while (digits.charCodeAt(start) === ZERO) start++
  while (end > start && digits.charCodeAt(end - 1) === ZERO) end--
  return digits.slice(start, end)
}
