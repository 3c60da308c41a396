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

/** Significant digits without leading and trailing zeros; `undefined` if the text is longer than any double needs. */
function digitsOf(text: string): string | undefined {
  if (text.length > MAX_DIGITS) return undefined
  const [mantissa = ''] = text.toLowerCase().split('e', 1)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  let end = digits.length
  while (digits.charAt(end - 1) === '0') end--
  return digits.slice(0, end)
}
