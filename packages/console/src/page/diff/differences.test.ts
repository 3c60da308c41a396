import { describe, expect, it } from 'vitest'
import { differencesOf, isChanged, shownTexts } from './differences.ts'

describe('differencesOf', () => {
  it('lists every member with its old and new value', () => {
    const before = { to: { name: 'Ann' }, files: ['a', 'b'], urgent: true }
    const after = { to: { name: 'Bob' }, files: ['a'], urgent: true, note: '' }

    expect(differencesOf(before, after).rows).toEqual([
      { path: 'to.name', before: '"Ann"', after: '"Bob"' },
      { path: 'files[0]', before: '"a"', after: '"a"' },
      { path: 'urgent', before: 'true', after: 'true' },
      { path: 'note', before: undefined, after: '""' },
      { path: 'files[1]', before: '"b"', after: undefined },
    ])
    expect(
      differencesOf(before, after)
        .rows.filter(isChanged)
        .map(({ path }) => path),
    ).toEqual(['to.name', 'note', 'files[1]'])
  })

  it('compares values that are no objects, empty ones and missing ones', () => {
    expect(differencesOf(1, 2).rows).toEqual([{ path: '', before: '1', after: '2' }])
    expect(differencesOf(undefined, {}).rows).toEqual([{ path: '', before: undefined, after: '{}' }])
    expect(differencesOf({}, []).rows).toEqual([{ path: '', before: '{}', after: '[]' }])
    expect(differencesOf(undefined, undefined).rows).toEqual([])
  })

  it('keeps members apart whose names look like paths', () => {
    const hostile = { to: { address: 'mallory@evil' }, 'to.address': 'boss@corp', 'files[0]': 1, files: [2] }

    expect(differencesOf(undefined, hostile).rows.map(({ path, after }) => [path, after])).toEqual([
      ['to.address', '"mallory@evil"'],
      ['["to.address"]', '"boss@corp"'],
      ['["files[0]"]', '1'],
      ['files[0]', '2'],
    ])
  })

  it('tells a text from the value that it looks like', () => {
    expect(differencesOf({ amount: '10' }, { amount: 10 }).rows.every(isChanged)).toBe(true)
  })

  it('shows texts without quotes, except where another value would look the same', () => {
    const shown = (before: unknown, after: unknown) => differencesOf(before, after).rows.map(shownTexts)

    expect(shown({ to: '1.2' }, { to: '1.3' })).toEqual([['1.2', '1.3']])
    expect(shown({ to: '10' }, { to: 10 })).toEqual([['"10"', '10']])
    expect(shown({}, { to: 'Ann' })).toEqual([
      [undefined, 'Ann'],
      ['{}', undefined],
    ])
  })

  it('stops after 1,000 members, and says so', () => {
    const lines = (length: number) => Array.from({ length }, (_, n) => n)

    expect(differencesOf(undefined, lines(1_000))).toMatchObject({ isCut: false })
    const { rows, isCut } = differencesOf(undefined, { lines: lines(1_000), to: 'mallory' })
    expect([rows.length, isCut]).toEqual([1_000, true])
    expect(differencesOf(lines(100_000), undefined).rows).toHaveLength(1_000)
  })
})
