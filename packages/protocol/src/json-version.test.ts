import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { jsonSize } from './json-size.ts'
import { createJsonVersion, type JsonVersion } from './json-version.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** The version after patches that must all apply. */
const after = (version: JsonVersion, ...patches: readonly (readonly object[])[]): JsonVersion =>
  patches.reduce<JsonVersion>((current, patch) => {
    const patched = current.patched(patch)
    if (!patched.ok) throw new Error(patched.problem)
    return patched.version
  }, version)

describe('createJsonVersion, of an object with many members', () => {
  const MEMBERS = 20_000
  const PATCHES = 1_000
  const wide = (): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: MEMBERS }, (_, index) => [`k${index}`, index]))

  /** How many members are listed meanwhile. An object cannot be copied or measured without that. */
  function listed(act: () => void): number {
    const list = Object.keys
    let count = 0
    vi.spyOn(Object, 'keys').mockImplementation((value: object) => {
      const names = list(value)
      count += names.length
      return names
    })
    act()
    vi.restoreAllMocks()
    return count
  }

  const failing = { op: 'test', path: '/none', value: 1 }
  const at = (index: number) => `k${index}`
  const PATCHES_OF: readonly (readonly [string, (prefix: string, index: number) => readonly object[]])[] = [
    ['replaces', (prefix, index) => [{ op: 'replace', path: `${prefix}/${at(index)}`, value: 'new' }]],
    ['adds', (prefix, index) => [{ op: 'add', path: `${prefix}/new${index}`, value: { index } }]],
    ['removes', (prefix, index) => [{ op: 'remove', path: `${prefix}/${at(index)}` }]],
    ['tests', (prefix, index) => [{ op: 'test', path: `${prefix}/${at(index)}`, value: index }]],
    ['moves', (prefix, index) => [{ op: 'move', from: `${prefix}/${at(index)}`, path: `${prefix}/m${index}` }]],
    [
      'copies a value and changes the copy',
      (prefix, index) => [
        { op: 'copy', from: '/text', path: `${prefix}/copy` },
        { op: 'replace', path: `${prefix}/copy/of`, value: index },
      ],
    ],
  ]
  const PLACES = [
    ['at the top', '', () => ({ ...wide(), text: { of: 'x'.repeat(5_000) } })],
    ['in a nested object', '/a/b/0', () => ({ a: { b: [wide()] }, text: { of: 'x'.repeat(5_000) } })],
  ] as const

  const cases = PLACES.flatMap(([place, prefix, make]) =>
    PATCHES_OF.map(([name, patch]) => [name, place, { make, patch: (index: number) => patch(prefix, index) }] as const),
  )

  // Listed are: all members to measure them, to count them, and to copy them, and a few for each patch. Long values that patches
  // replace cost further copies.
  const AT_MOST = 8 * MEMBERS + 30 * PATCHES

  it.each(cases)('%s %s without copying the object for each patch', (_, __, { make, patch }) => {
    const document = make()
    const patches = Array.from({ length: PATCHES }, (_, index) => patch(index))
    let version = createJsonVersion(document)
    expect(listed(() => (version = after(version, ...patches)))).toBeLessThan(AT_MOST)
    expect(version.bytes()).toBe(jsonSize(clone(version.value()), Number.POSITIVE_INFINITY)?.bytes)
    expect(document).toEqual(make())
  })

  it.each(cases)(
    'refuses a patch that %s %s and then fails without copying the object again',
    (_, __, { make, patch }) => {
      const version = createJsonVersion(make())
      const count = listed(() => {
        for (let index = 0; index < PATCHES; index++) {
          expect(version.patched([...patch(index), failing])).toMatchObject({
            ok: false,
            problem: '/none does not exist',
          })
        }
      })
      // `toMatchObject` lists the members of the results.
      expect(count).toBeLessThan(AT_MOST)
      expect(version.value()).toEqual(make())
      expect(after(version, patch(0)).value()).toEqual(after(createJsonVersion(make()), patch(0)).value())
    },
  )

  it('compares it with a shorter object without listing its members', () => {
    const version = createJsonVersion({ wide: wide() })
    const test = [{ op: 'test', path: '/wide', value: {} }]
    expect(
      listed(() => {
        for (let index = 0; index < PATCHES; index++) version.patched(test)
      }),
    ).toBeLessThan(AT_MOST)
  })

  it('copies it once for each time that it is read', () => {
    const [, replace] = PATCHES_OF[0] as (typeof PATCHES_OF)[number]
    let version = after(createJsonVersion(wide()), replace('', 0))
    const read: unknown[] = []
    const count = listed(() => {
      for (let round = 1; round <= 3; round++) {
        read.push(version.value())
        for (let index = 0; index < 100; index++) version = after(version, replace('', round * 100 + index))
      }
    })
    expect(count).toBe(3 * MEMBERS)
    expect(read.map((one) => Object.values(one as object).filter((value) => value === 'new').length)).toEqual([
      1, 101, 201,
    ])
  })

  it('keeps no more changes for an early version than a copy of the document is long', () => {
    const early = createJsonVersion({ n: 0, list: [] })
    let version = early
    for (let n = 1; n <= 5_000; n++) version = after(version, [{ op: 'replace', path: '/n', value: n }])
    let changes = 0
    vi.spyOn(Array.prototype, 'toReversed').mockImplementation(function (this: unknown[]) {
      changes += this.length
      return [...this].reverse()
    })
    expect(early.value()).toEqual({ n: 0, list: [] })
    expect(changes).toBeGreaterThan(0)
    expect(changes).toBeLessThan(1_100)
    expect(version.value()).toEqual({ n: 5_000, list: [] })
  })
})

describe('createJsonVersion', () => {
  type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
  type Step = { readonly op: string; readonly path: string; readonly from?: string; readonly value?: unknown }

  const keysIn = (path: string) => path.split('/').slice(1)

  /** What RFC 6902 says, for operations that are well-formed: each changes a copy. Throws if it does not apply. */
  function simple(document: Json, { op, path, from = '', value }: Step): Json {
    const box = { document: clone(document) }
    const find = (keys: readonly string[]): { parent: Record<string, Json> | Json[]; key: string; exists: boolean } => {
      let parent: Json = box
      let key = 'document'
      for (const next of keys) {
        const child: Json | undefined = Object.entries(parent as object).find(([name]) => name === key)?.[1]
        if (typeof child !== 'object' || child === null) throw new Error('nothing there')
        parent = child
        key = next
      }
      const isIndex = !Array.isArray(parent) || /^(0|[1-9]\d*)$/.test(key)
      return { parent: parent as Json[], key, exists: isIndex && Object.hasOwn(parent as object, key) }
    }
    const found = (keys: readonly string[]): Json => {
      const { parent, key, exists } = find(keys)
      if (!exists) throw new Error('nothing there')
      return clone(Object.entries(parent).find(([name]) => name === key)?.[1] as Json)
    }
    const set = (keys: readonly string[], one: Json, isNew: boolean) => {
      const { parent, key, exists } = find(keys)
      if (!Array.isArray(parent)) {
        Object.defineProperty(parent, key, { value: one, enumerable: true, configurable: true, writable: true })
      } else if (!isNew) parent[Number(key)] = one
      else if (key === '-' || key === String(parent.length)) parent.push(one)
      else if (exists) parent.splice(Number(key), 0, one)
      else throw new Error('no index')
    }
    const drop = (keys: readonly string[]) => {
      found(keys)
      const { parent, key } = find(keys)
      if (keys.length === 0) box.document = null
      else if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else delete parent[key]
    }
    const keys = keysIn(path)
    if (op === 'add') set(keys, clone(value as Json), true)
    else if (op === 'remove') drop(keys)
    else if (op === 'replace') {
      found(keys)
      set(keys, clone(value as Json), false)
    } else if (op === 'copy') set(keys, found(keysIn(from)), true)
    else if (op === 'test') expect(found(keys)).toEqual(value)
    else {
      if (path.startsWith(`${from}/`)) throw new Error('into itself')
      const moved = found(keysIn(from))
      if (keys.length > 0) drop(keysIn(from))
      set(keys, moved, true)
    }
    return box.document
  }

  const key = fc.constantFrom('a', 'b', '0', '1', '-', '__proto__')
  const path = fc.array(key, { maxLength: 3 }).map((keys) => keys.map((one) => `/${one}`).join(''))
  const likely = fc.constantFrom('/a', '/b', '/a/0', '/a/1', '/b/a', '/a/0/b', '/a/-')
  const pointer = fc.oneof({ weight: 3, arbitrary: likely }, { weight: 1, arbitrary: path })
  const long = { a: Array.from({ length: 500 }, () => ({ b: 'ten letters' })) }
  const value = fc.oneof(
    // JSON text has no negative zero: it is written as 0.
    fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json),
    fc.constantFrom<unknown>([[], { b: 1 }], { a: { b: 1 }, b: [2] }, long),
  )
  const op = fc.constantFrom('add', 'add', 'replace', 'remove', 'move', 'copy', 'test')
  const patch = fc.array(fc.record({ op, path: pointer, from: pointer, value }), { minLength: 1, maxLength: 4 })
  const action = fc.record({ patch, on: fc.nat(), isOnNewest: fc.boolean(), reads: fc.option(fc.nat()) })

  it('makes the versions that a simple implementation makes, whichever version a patch is for, and changes none', () => {
    let applied = 0
    fc.assert(
      fc.property(fc.array(action, { maxLength: 25 }), (actions) => {
        const start: Json = { a: [{ b: 1 }, [2]], b: { a: 3 } }
        const versions: { version: JsonVersion; expected: Json }[] = [
          { version: createJsonVersion(start), expected: start },
        ]
        const read: { readonly value: unknown; readonly text: string }[] = []
        for (const { patch: steps, on, isOnNewest, reads } of actions) {
          const { version, expected } = versions.at(isOnNewest ? -1 : on % versions.length) as (typeof versions)[0]
          const patched = version.patched(steps)
          const simply = attempt(() => steps.reduce(simple, expected))
          expect(patched.ok).toBe(simply.ok)
          if (patched.ok && simply.ok) {
            applied++
            versions.push({ version: patched.version, expected: simply.value })
            expect(patched.version.bytes()).toBe(jsonSize(clone(simply.value), Number.POSITIVE_INFINITY)?.bytes)
          }
          if (reads === null) continue
          const one = versions[reads % versions.length] as (typeof versions)[0]
          expect(one.version.value()).toEqual(one.expected)
          read.push({ value: one.version.value(), text: JSON.stringify(one.version.value()) })
        }
        for (const { version, expected } of versions) expect(clone(version)).toEqual(clone(expected))
        for (const one of read) expect(JSON.stringify(one.value)).toBe(one.text)
      }),
      { numRuns: 300 },
    )
    expect(applied).toBeGreaterThan(100)
  })

  const attempt = <T>(act: () => T): { readonly ok: true; readonly value: T } | { readonly ok: false } => {
    try {
      return { ok: true, value: act() }
    } catch {
      return { ok: false }
    }
  }

  it('refuses a patch at the same cost, whether or not an earlier patch has made a copy', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index)
    const heavy = Array.from({ length: 85 }, () => ({ op: 'add', path: '/list/0', value: 1 }))
    const refusal = { ok: false, problem: expect.stringContaining('too many items'), exceeds: true }
    const fresh = () => createJsonVersion({ list })
    const changed = () => after(fresh(), [{ op: 'replace', path: '/list/0', value: 0 }])
    for (const make of [fresh, changed]) {
      // 82 insertions and the copy of the list stay below the limit; 83 would too, if an earlier copy made them cheaper.
      expect(make().patched(heavy.slice(0, 82))).toMatchObject({ ok: true })
      expect(make().patched(heavy.slice(0, 83))).toEqual(refusal)
    }
  })

  it('takes back and repeats a patch that changes an object and moves it, also after a version was read', () => {
    const start = createJsonVersion({ b: { a: 3 } })
    const change = (value: number) => ({ op: 'replace', path: '/b/a', value })
    const moved = after(start, [change(4), { op: 'move', from: '/b', path: '/c' }])
    expect(start.value()).toEqual({ b: { a: 3 } })
    expect(moved.value()).toEqual({ c: { a: 4 } })

    const root = after(start, [change(5)], [{ op: 'move', from: '/b', path: '' }])
    const last = after(root, [{ op: 'replace', path: '/a', value: 6 }])
    expect(last.value()).toEqual({ a: 6 })
    expect(start.value()).toEqual({ b: { a: 3 } })
    expect(root.value()).toEqual({ a: 5 })
  })

  it('keeps a copy of a long value apart from the value, across patches', () => {
    const change = (path: string, value: number) => [{ op: 'replace', path, value }]
    const list = Array.from({ length: 2_000 }, (_, id) => ({ id }))
    const copied = after(createJsonVersion({ list }), change('/list/0/id', -1), [
      { op: 'copy', from: '/list', path: '/other' },
    ])
    expect(after(copied, change('/list/1/id', -2), change('/other/0/id', -3)).value()).toEqual({
      list: list.with(0, { id: -1 }).with(1, { id: -2 }),
      other: list.with(0, { id: -3 }),
    })
  })
})
