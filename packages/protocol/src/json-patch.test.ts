import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyJsonPatch } from './json-patch.ts'
import { jsonSize, MAX_JSON_DEPTH } from './json-size.ts'
import { PATCH_LIMITS } from './patching.ts'

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
    expect(applyJsonPatch(DOCUMENT, patch)).toEqual({ ok: true, value, bytes: expect.any(Number) })
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
    expect(applyJsonPatch(DOCUMENT, patch)).toEqual({ ok: false, problem: expect.any(String), exceeds: false })
  })

  it('stores the key __proto__ like any other', () => {
    const patched = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }])
    expect(JSON.stringify(patched.ok && patched.value)).toBe('{"__proto__":{"polluted":true}}')
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('keeps every member of an object that it changes, also __proto__', () => {
    const document = JSON.parse('{"__proto__":1,"b":2,"0":3}')
    const patched = applyJsonPatch(document, [{ op: 'replace', path: '/b', value: 4 }])
    expect(JSON.stringify(patched.ok && patched.value)).toBe('{"0":3,"__proto__":1,"b":4}')
    expect(JSON.stringify(document)).toBe('{"0":3,"__proto__":1,"b":2}')
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

const refused = { ok: false, problem: expect.any(String), exceeds: true }
const copies = (count: number, from: string, to: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => ({ op: 'copy', from, path: to(index) }))

describe('jsonSize', () => {
  it('is the length of the text in UTF-8, and one more for each object or list with members', () => {
    const containers = (value: unknown): number =>
      typeof value !== 'object' || value === null
        ? 0
        : Object.values(value).reduce<number>(
            (sum, one) => sum + containers(one),
            Object.keys(value).length > 0 ? 1 : 0,
          )
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const bytes = new TextEncoder().encode(JSON.stringify(value)).length
        expect(jsonSize(value, Number.POSITIVE_INFINITY)?.bytes).toBe(bytes + containers(value))
      }),
    )
  })
})

describe('applyJsonPatch, beyond its limits', () => {
  it.each([18, 24, 40, 1_000])('refuses %d copies that double the document', (count) => {
    const document = { a: { x: 'xxxxxxxxxx' } }
    const patch = copies(count, '/a', (index) => `/a/b${index}`)
    expect(applyJsonPatch(document, patch)).toEqual(refused)
  })

  it('refuses what several patches copy together', () => {
    let document: unknown = { text: 'x'.repeat(300_000) }
    const results = Array.from({ length: 5 }, (_, index) => {
      const patched = applyJsonPatch(document, [{ op: 'copy', from: '/text', path: `/text${index}` }])
      if (patched.ok) document = patched.value
      return patched.ok
    })
    expect(results).toEqual([true, true, false, false, false])
    expect(JSON.stringify(document).length).toBeLessThanOrEqual(PATCH_LIMITS.bytes)
  })

  it('refuses copies that later operations remove again', () => {
    const document = { text: 'x'.repeat(300_000) }
    const patch = Array.from({ length: 5 }, () => [
      { op: 'copy', from: '/text', path: '/copy' },
      { op: 'remove', path: '/copy' },
    ]).flat()
    expect(applyJsonPatch(document, patch)).toEqual(refused)
    expect(applyJsonPatch(document, patch.slice(0, 6))).toMatchObject({ ok: true, value: document })
  })

  it('refuses more than 1,000 operations', () => {
    const patch = Array.from({ length: 1_001 }, (_, value) => ({ op: 'replace', path: '/city', value }))
    expect(applyJsonPatch(DOCUMENT, patch)).toEqual(refused)
    expect(applyJsonPatch(DOCUMENT, patch.slice(1))).toMatchObject({ ok: true, value: { city: 1_000 } })
  })

  it.each([
    ['add', (path: string) => [{ op: 'add', path: `${path}/a`, value: {} }]],
    [
      'replace',
      (path: string) => [
        { op: 'add', path: `${path}/a`, value: 1 },
        { op: 'replace', path: `${path}/a`, value: {} },
      ],
    ],
    [
      'copy',
      (path: string) => [
        { op: 'add', path: '/empty', value: {} },
        { op: 'copy', from: '/empty', path: `${path}/a` },
      ],
    ],
    [
      'move',
      (path: string) => [
        { op: 'add', path: '/empty', value: {} },
        { op: 'move', from: '/empty', path: `${path}/a` },
      ],
    ],
  ])('refuses %s when it nests the document deeper than requests may be', (_, nest) => {
    let document: unknown = {}
    let levels = 1
    for (; levels < 100; levels++) {
      const patched = applyJsonPatch(document, nest('/a'.repeat(levels - 1)))
      if (!patched.ok) {
        expect(patched).toEqual(refused)
        break
      }
      document = patched.value
    }
    expect(levels).toBe(MAX_JSON_DEPTH)
    expect(jsonSize(document, Number.POSITIVE_INFINITY)).toMatchObject({ depth: MAX_JSON_DEPTH })
  })

  it('refuses a path with more keys than a document can have levels', () => {
    expect(applyJsonPatch({}, [{ op: 'remove', path: '/a'.repeat(65) }])).toEqual(refused)
  })

  it.each([
    ['longer than the limit', { text: 'x'.repeat(PATCH_LIMITS.bytes) }],
    ['with one object in many places', Array.from({ length: 40 }).reduce<unknown>((one) => [one, one], 'x')],
  ])('refuses a patch of a document %s', (_, document) => {
    expect(applyJsonPatch(document, [])).toEqual(refused)
  })

  it('counts bytes, not characters', () => {
    const patch = [{ op: 'add', path: '/text', value: 'ß'.repeat(600_000) }]
    expect(applyJsonPatch({}, patch)).toEqual(refused)
  })

  it('keeps the size of the document right, whatever the patches do', () => {
    const key = fc.constantFrom('a', 'b', '0', '-', '1', '__proto__')
    const pointer = fc.array(key, { maxLength: 3 }).map((keys) => keys.map((one) => `/${one}`).join(''))
    const op = fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy'),
      path: pointer,
      from: pointer,
      value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant({ a: [{}], b: {} })),
    })
    fc.assert(
      fc.property(fc.array(op, { maxLength: 30 }), (ops) => {
        let document: unknown = { a: [{ b: {} }], b: {} }
        for (const one of ops) {
          const before = JSON.stringify(document)
          const patched = applyJsonPatch(document, [one])
          expect(JSON.stringify(document)).toBe(before)
          if (!patched.ok) continue
          document = patched.value
          const copied = JSON.parse(JSON.stringify(document)) as unknown
          expect(patched.bytes).toBe(jsonSize(copied, Number.POSITIVE_INFINITY)?.bytes)
        }
      }),
    )
  })
})
