const MAX_DIGITS = 40

/**
 * Why a JSON number would not arrive as it was written. Up to 2^53-1 every integer does. Beyond, plain integers are
 * refused, and of the forms with a fraction or exponent those that a double does not hold digit for digit.
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

/** The significant digits, without the zeros at either end; not of a text that is longer than a double ever needs. */
function digitsOf(text: string): string | undefined {
  if (text.length > MAX_DIGITS) return undefined
  const [mantissa = ''] = text.toLowerCase().split('e', 1)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  let end = digits.length
  while (digits.charAt(end - 1) === '0') end--
  return digits.slice(0, end)
}
