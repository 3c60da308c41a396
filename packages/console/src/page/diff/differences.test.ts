import { describe, expect, it } from 'vitest'
import { differencesOf, isChanged } from './differences.ts'

describe('differencesOf', () => {
  it('lists every member with its old and new value', () => {
    const before = { to: { name: 'Ann' }, files: ['a', 'b'], urgent: true }
    const after = { to: { name: 'Bob' }, files: ['a'], urgent: true, note: '' }

    expect(differencesOf(before, after)).toEqual([
      { path: 'to.name', before: 'Ann', after: 'Bob' },
      { path: 'files[0]', before: 'a', after: 'a' },
      { path: 'urgent', before: 'true', after: 'true' },
      { path: 'note', before: undefined, after: '' },
      { path: 'files[1]', before: 'b', after: undefined },
    ])
    expect(
      differencesOf(before, after)
        .filter(isChanged)
        .map(({ path }) => path),
    ).toEqual(['to.name', 'note', 'files[1]'])
  })

  it('compares values that are no objects, empty ones and missing ones', () => {
    expect(differencesOf(1, 2)).toEqual([{ path: '', before: '1', after: '2' }])
    expect(differencesOf(undefined, {})).toEqual([{ path: '', before: undefined, after: '{}' }])
    expect(differencesOf({}, [])).toEqual([{ path: '', before: '{}', after: '[]' }])
    expect(differencesOf(undefined, undefined)).toEqual([])
  })

  it('stops after 1,000 members', () => {
    expect(
      differencesOf(
        undefined,
        Array.from({ length: 100_000 }, (_, n) => n),
      ),
    ).toHaveLength(1_000)
  })
})
