const MAX_DIGITS = 40

/**
 * Explains why a JSON number would lose precision. Values up to 2^53-1 are accepted. Beyond that, integers are
 * rejected, and so are numbers with a fraction or exponent that a double does not preserve digit for digit.
 */
export function numberProblem(text: string): string | undefined {
  const value = Number(text)
  if (!Number.isFinite(value)) return 'number too large'
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined
  const isPlain = !/[.eE]/.test(text)
  return isPlain || digitsOf(text) !== digitsOf(String(value))
    ? 'integer beyond 2^53-1 (send it as a string)'
    : undefined
}

const ZERO = 0x30

/** Significant digits without leading and trailing zeros; `undefined` if the text is longer than any double needs. */
function digitsOf(text: string): string | undefined {
  if (text.length > MAX_DIGITS) return undefined
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
