import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createJsonVersion, type JsonVersion } from './json-version.ts'

const MEMBERS = 20_000
const PROBES = 200

/** Counts how often members with these names are assigned to an object that has none of that name yet. */
const assigned = { count: 0 }
const probeName = (probe: number) => `probe${probe}`
const probes = Array.from({ length: PROBES }, (_, probe) => probeName(probe))
const watchProbes = () => {
  for (const name of probes) {
    Object.defineProperty(Object.prototype, name, {
      configurable: true,
      set(value: unknown) {
        assigned.count++
        Object.defineProperty(this, name, { value, enumerable: true, configurable: true, writable: true })
      },
    })
  }
}
afterEach(() => {
  for (const name of probes) Reflect.deleteProperty(Object.prototype, name)
})

/** The probes are spread evenly over the members. */
const wide = (members = MEMBERS): Record<string, unknown> =>
  JSON.parse(
    `{${Array.from({ length: members }, (_, at) =>
      at % (members / PROBES) === 0 ? `"${probeName(at / (members / PROBES))}":0` : `"k${at}":0`,
    ).join()}}`,
  ) as Record<string, unknown>

const patchedBy = (version: JsonVersion, patch: readonly object[]): JsonVersion => {
  const patched = version.patched(patch)
  if (!patched.ok) throw new Error(patched.problem)
  return patched.version
}

const replacing = (round: number) =>
  Array.from({ length: 1_000 }, (_, at) => ({
    op: 'replace',
    path: `/k${((round * 1_000 + at) % 19_000) + 1}`,
    value: 1,
  })).filter(({ path }) => Number(path.slice(2)) % (MEMBERS / PROBES) !== 0)

describe('a document with many members in one object', () => {
  it('is copied in parts, however long it is patched', () => {
    let version = patchedBy(createJsonVersion(wide()), replacing(0))
    watchProbes()
    const copied: number[] = []
    for (let round = 1; round < 100; round++) {
      assigned.count = 0
      version = patchedBy(version, replacing(round))
      copied.push(assigned.count)
    }

    const total = copied.reduce((sum, one) => sum + one)
    // It was copied several times, and no patch has copied more than half of it.
    expect(total).toBeGreaterThanOrEqual(3 * PROBES)
    expect(Math.max(...copied)).toBeLessThan(PROBES / 2)
    expect(Object.keys(JSON.parse(JSON.stringify(version)))).toHaveLength(MEMBERS)
  })

  it('grows from an empty one without being copied at once', () => {
    let version = createJsonVersion({})
    for (let round = 0; round < 20; round++) {
      const names = Object.keys(wide()).slice(round * 1_000, (round + 1) * 1_000)
      version = patchedBy(
        version,
        names.map((name) => ({ op: 'add', path: `/${name}`, value: 0 })),
      )
    }
    watchProbes()
    const copied: number[] = []
    for (let round = 0; round < 60; round++) {
      assigned.count = 0
      version = patchedBy(version, replacing(round))
      copied.push(assigned.count)
    }

    expect(copied.some((count) => count > 0)).toBe(true)
    expect(Math.max(...copied)).toBeLessThan(PROBES / 2)
  })

  it('is what its patches make of it, in the same order, and earlier versions stay as they were', () => {
    const index = fc.nat(11_999)
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('set' as const), index, value: fc.nat(9) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), index, value: fc.nat(9) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('inside' as const), index, value: fc.nat(9) }) },
    )
    const NESTED = 5
    fc.assert(
      fc.property(
        fc.array(fc.array(step, { minLength: 900, maxLength: 1_000 }), { minLength: 28, maxLength: 32 }),
        (rounds) => {
          const model: Record<string, unknown> = Object.fromEntries(
            Array.from({ length: 12_000 }, (_, at) => [`k${at}`, at % NESTED === 0 ? { in: 0 } : 0]),
          )
          let version = createJsonVersion(JSON.parse(JSON.stringify(model)))
          const kept: { readonly version: JsonVersion; readonly text: string }[] = []
          for (const [round, steps] of rounds.entries()) {
            const patch = steps.flatMap(({ kind, index: at, value }) => {
              const name = `k${at}`
              const path = `/${name}`
              if (kind === 'remove') {
                if (!Object.hasOwn(model, name)) return []
                delete model[name]
                return [{ op: 'remove', path }]
              }
              const inner = model[name]
              if (kind === 'inside' && typeof inner === 'object' && inner !== null) {
                model[name] = { ...inner, in: value }
                return [{ op: 'replace', path: `${path}/in`, value }]
              }
              model[name] = at % NESTED === 0 ? { in: value } : value
              return [{ op: 'add', path, value: model[name] }]
            })
            version = patchedBy(version, patch)
            if (round % 7 === 0) kept.push({ version, text: JSON.stringify(model) })
          }
          expect(JSON.stringify(version)).toBe(JSON.stringify(model))
          for (const { version: earlier, text } of kept.reverse()) {
            expect(JSON.parse(JSON.stringify(earlier))).toEqual(JSON.parse(text))
          }
          expect(JSON.stringify(version.value())).toEqual(JSON.stringify(version))
        },
      ),
      { numRuns: 3, endOnFailure: true },
    )
  })
})
