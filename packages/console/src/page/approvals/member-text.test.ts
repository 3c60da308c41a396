import { expect, it } from 'vitest'
import { memberText } from './member-text.ts'

it.each([
  ['Ann', 'Ann'],
  ['pay 10 to Ann', 'pay 10 to Ann'],
  [10, '10'],
  ['10', '"10"'],
  [null, 'null'],
  ['null', '"null"'],
  [false, 'false'],
  ['', '""'],
  ['  ', '"  "'],
  ['x ', '"x "'],
])('shows %j as %s', (value, text) => {
  expect(memberText(value)).toBe(text)
})

it('shows a text in the order of its characters', () => {
  expect(memberText('to \u202emoc.live')).toBe('to \\u202emoc.live')
})
