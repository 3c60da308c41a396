import { expect, it } from 'vitest'
import { tableText } from './table-text.ts'

it('tableText aligns columns and leaves no space at the end of a line', () => {
  expect(
    tableText(
      ['A', 'LONG'],
      [
        ['wide cell', ''],
        ['x', 'y'],
      ],
    ),
  ).toBe('A          LONG\nwide cell\nx          y\n')
})
