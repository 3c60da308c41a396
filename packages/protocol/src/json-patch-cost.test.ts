import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyJsonPatch } from './json-patch.ts'
import { jsonSize } from './json-size.ts'

const refused = { ok: false, problem: expect.any(String), exceeds: true }

describe('applyJsonPatch, with a patch that costs more than its length', () => {
  const long = Array.from({ length: 120_000 }, (_, index) => index)
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`member${index}`, index]))
  const text = { text: 'x'.repeat(900_000) }
  const times = (count: number, ...steps: readonly object[]) => Array.from({ length: count }, () => steps).flat()

  it.each([
    ['moves within a long list', long, times(1_000, { op: 'move', from: '/119999', path: '/0' })],
    ['moves to the end of a long list', long, times(1_000, { op: 'move', from: '/0', path: '/119999' })],
    ['insertions into a long list', long, times(1_000, { op: 'add', path: '/0', value: 1 })],
    ['removals from a long list', long, times(1_000, { op: 'remove', path: '/0' })],
    ['tests of an object with many members', { wide }, times(1_000, { op: 'test', path: '/wide', value: { ...wide } })],
    [
      'moves of a long value to deeper places',
      { text, a: { b: {} } },
      times(500, { op: 'move', from: '/text', path: '/a/b/text' }, { op: 'move', from: '/a/b/text', path: '/text' }),
    ],
  ])('refuses many %s', (_, document, patch) => {
    expect(applyJsonPatch(document, patch)).toEqual(refused)
    expect(applyJsonPatch(document, patch.slice(0, 2))).toMatchObject({ ok: true })
  })

  it('applies many insertions to a list of usual length', () => {
    const patch = times(1_000, { op: 'add', path: '/0', value: 1 })
    expect(applyJsonPatch(long.slice(0, 5_000), patch)).toMatchObject({ ok: true })
  })

  it('contains a long value twice after a copy, instead of printing and parsing it, until one of them changes', () => {
    const list = Array.from({ length: 8_000 }, (_, id) => ({ id, name: 'a name' }))
    const copied = applyJsonPatch({ list }, [{ op: 'copy', from: '/list', path: '/other' }])
    expect((copied as { value: { other: unknown } }).value.other).toBe(list)

    const rename = { op: 'replace', path: '/other/0/name', value: 'changed' }
    const other = list.with(0, { id: 0, name: 'changed' })
    expect(applyJsonPatch((copied as { value: unknown }).value, [rename])).toMatchObject({
      ok: true,
      value: { list, other },
    })
    expect(list[0]).toEqual({ id: 0, name: 'a name' })
  })

  it('keeps copies of long values apart, whichever of them later operations change', () => {
    const value = () => ({ items: Array.from({ length: 700 }, (_, id) => ({ id })) })
    const path = fc.constantFrom('/a', '/b', '/a/items', '/b/items', '/a/items/0', '/b/items/1', '/a/items/2/id', '/c')
    const op = fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy'),
      ...{ path, from: path, value: fc.constantFrom(1, 'text', { id: 9 }) },
    })
    fc.assert(
      fc.property(fc.array(op, { maxLength: 12 }), (ops) => {
        const document = { a: value(), b: value() }
        const before = JSON.stringify(document)
        const together = applyJsonPatch(document, ops)
        expect(JSON.stringify(document)).toBe(before)
        // A reference without shared values: each operation applies to a fresh copy of the document.
        let one: unknown = JSON.parse(before)
        const isApplied = ops.every((step) => {
          const patched = applyJsonPatch(JSON.parse(JSON.stringify(one)), [step])
          if (patched.ok) one = patched.value
          return patched.ok
        })
        expect(together.ok).toBe(isApplied)
        if (together.ok) {
          expect(together.value).toEqual(one)
          expect(together.bytes).toBe(jsonSize(one, Number.POSITIVE_INFINITY)?.bytes)
        }
      }),
    )
  })
})
