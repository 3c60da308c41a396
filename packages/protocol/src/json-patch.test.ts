import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyJsonPatch } from './json-patch.ts'

const DOCUMENT = { city: 'Bern', list: [1, 2, { deep: true }], 'a/b': 0, 'm~n': 1 }
const freeze = (value: unknown): unknown => {
  if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) freeze(one)
  return Object.freeze(value)
}
freeze(DOCUMENT)

describe('applyJsonPatch', () => {
  it.each([
    ['replaces a member', [{ op: 'replace', path: '/city', value: 'Basel' }], { ...DOCUMENT, city: 'Basel' }],
    ['adds a member', [{ op: 'add', path: '/new', value: null }], { ...DOCUMENT, new: null }],
    [
      'inserts into a list',
      [{ op: 'add', path: '/list/1', value: 9 }],
      { ...DOCUMENT, list: [1, 9, 2, { deep: true }] },
    ],
    ['appends to a list', [{ op: 'add', path: '/list/-', value: 9 }], { ...DOCUMENT, list: [1, 2, { deep: true }, 9] }],
    ['removes from a list', [{ op: 'remove', path: '/list/0' }], { ...DOCUMENT, list: [2, { deep: true }] }],
    [
      'changes a deep value',
      [{ op: 'replace', path: '/list/2/deep', value: 1 }],
      { ...DOCUMENT, list: [1, 2, { deep: 1 }] },
    ],
    [
      'reads escaped keys',
      [
        { op: 'replace', path: '/a~1b', value: 1 },
        { op: 'test', path: '/m~0n', value: 1 },
      ],
      { ...DOCUMENT, 'a/b': 1 },
    ],
    ['copies', [{ op: 'copy', from: '/list/2', path: '/copy' }], { ...DOCUMENT, copy: { deep: true } }],
    ['moves', [{ op: 'move', from: '/list/0', path: '/city' }], { ...DOCUMENT, city: 1, list: [2, { deep: true }] }],
    ['replaces the document', [{ op: 'replace', path: '', value: 7 }], 7],
    [
      'tests without regard to the order of members',
      [{ op: 'test', path: '/list/2', value: { deep: true } }],
      DOCUMENT,
    ],
  ])('%s', (_, patch, value) => {
    expect(applyJsonPatch(DOCUMENT, patch)).toEqual({ ok: true, value })
  })

  it.each([
    ['a path that does not exist', [{ op: 'replace', path: '/none', value: 1 }]],
    ['a removal of nothing', [{ op: 'remove', path: '/list/3' }]],
    ['an index beyond the end', [{ op: 'add', path: '/list/4', value: 1 }]],
    ['an index with a leading zero', [{ op: 'add', path: '/list/00', value: 1 }]],
    ['a path into a text', [{ op: 'add', path: '/city/0', value: 1 }]],
    ['a failed test', [{ op: 'test', path: '/city', value: 'Basel' }]],
    ['a move into itself', [{ op: 'move', from: '/list', path: '/list/0' }]],
    ['a path without a slash', [{ op: 'remove', path: 'city' }]],
    ['an operation without a value', [{ op: 'add', path: '/x' }]],
    ['an unknown operation', [{ op: 'merge', path: '/x', value: 1 }]],
    ['a patch that is not a list', { op: 'remove', path: '/city' }],
    ['a path over a prototype', [{ op: 'replace', path: '/constructor/name', value: 'x' }]],
  ])('refuses %s, and applies nothing', (_, patch) => {
    expect(applyJsonPatch(DOCUMENT, patch)).toEqual({ ok: false, problem: expect.any(String) })
  })

  it('stores the key __proto__ like any other', () => {
    const patched = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }])
    expect(JSON.stringify(patched)).toBe('{"ok":true,"value":{"__proto__":{"polluted":true}}}')
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('returns an answer for every patch and never changes the document', () => {
    const pointer = fc
      .array(fc.constantFrom('city', 'list', '0', '-', '2', 'deep', 'x'))
      .map((keys) => keys.map((key) => `/${key}`).join(''))
    const op = fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
        path: pointer,
        from: pointer,
        value: fc.jsonValue(),
      },
      { requiredKeys: ['op', 'path'] },
    )
    fc.assert(
      fc.property(fc.array(op, { maxLength: 5 }), (patch) => {
        expect(typeof applyJsonPatch(DOCUMENT, patch).ok).toBe('boolean')
      }),
    )
  })
})
