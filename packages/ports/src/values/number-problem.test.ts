import fc from 'fast-check'
import { expect, it } from 'vitest'
import { numberProblem } from './number-problem.ts'

/** The promise itself: converts every number to a double and back. */
function problemByConversion(text: string): string | undefined {
  const value = Number(text)
  if (!Number.isFinite(value)) return 'number too large'
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined
  const isExact = /[.eE]/.test(text) && text.length <= 40 && digitsOf(text) === digitsOf(String(value))
  return isExact ? undefined : 'integer beyond 2^53-1 (send it as a string)'
}

const digitsOf = (text: string) =>
  text
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '')

const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0000123456789'), maxLength })
const exponent = fc.oneof(
  fc.constant(''),
  fc
    .tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), fc.constantFrom(0, 5, 16, 292, 308), fc.nat(16))
    .map(([letter, from, more]) => `${letter}${from + more}`),
)
const number = fc
  .tuple(fc.constantFrom('', '-'), digits(24), digits(24), exponent)
  .map(([sign, whole, fraction, end]) => {
    const point = fraction === '' ? '' : `.${fraction}`
    return `${sign}${whole.replace(/^0+/, '') || '0'}${point}${end}`
  })
const round = fc
  .tuple(fc.integer({ min: 1, max: 999 }), fc.nat(45), fc.nat(40), exponent)
  .map(([head, zeros, more, end]) => `${head}${'0'.repeat(zeros)}${more === 0 ? '' : `.${'0'.repeat(more)}`}${end}`)
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)

it('agrees with a conversion of the number to a double and back', () => {
  fc.assert(
    fc.property(fc.oneof(number, round, double), (text) => {
      expect(numberProblem(`9${text},`, 1, 1 + text.length)).toBe(problemByConversion(text))
    }),
    { numRuns: 5_000 },
  )
})

it.each([
  ['1.7976931348623157e308', undefined],
  ['1.797e308', undefined],
  ['1.798e308', 'number too large'],
  ['9e308', 'number too large'],
  [`0.${'0'.repeat(20_000)}1e20001`, undefined],
  [`0.${'0'.repeat(20_000)}1e20400`, 'number too large'],
  [`1${'0'.repeat(38)}.0`, 'integer beyond 2^53-1 (send it as a string)'],
  [`1${'0'.repeat(37)}.0`, undefined],
  ['0e999999999999999999999', undefined],
])('judges the extreme number %#', (text, problem) => {
  expect(numberProblem(text)).toBe(problem)
})
