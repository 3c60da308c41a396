import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIdGenerator } from './id-generator.ts'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const FORM = /^run_[0-7][0-9A-HJKMNP-TV-Z]{25}$/

function toUuid(id: string): bigint {
  return [...id.slice(id.indexOf('_') + 1)].reduce((sum, char) => sum * 32n + BigInt(CROCKFORD.indexOf(char)), 0n)
}

describe('createIdGenerator', () => {
  it('creates a UUIDv7 of the current time in Crockford base32', () => {
    const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
    const id = createIdGenerator({ now: () => at }).newId('run')
    const uuid = toUuid(id)

    expect(id).toMatch(FORM)
    expect(Number(uuid >> 80n)).toBe(at)
    expect((uuid >> 76n) & 0xfn).toBe(7n)
    expect((uuid >> 62n) & 0b11n).toBe(0b10n)
  })

  it('uses the prefix of the kind', () => {
    const ids = createIdGenerator()

    expect(ids.newId('session')).toMatch(/^ses_/)
    expect(ids.newId('token')).toMatch(/^tok_/)
  })

  it.each([3_600_000, 10 * 365 * 86_400_000])('returns to the right time after the clock was %i ms ahead', (stepMs) => {
    let at = Date.UTC(2026, 0, 2)
    const ids = createIdGenerator({ now: () => at })
    const before = ids.newId('run')
    at += stepMs
    const wrong = ids.newId('run')
    at -= stepMs - 1_000
    const after = [ids.newId('run'), ids.newId('run')]

    expect(Number(toUuid(wrong) >> 80n)).toBe(Date.UTC(2026, 0, 2) + stepMs)
    expect(Number(toUuid(after[0] ?? '') >> 80n)).toBe(at)
    expect([before, ...after, wrong]).toEqual([before, ...after, wrong].toSorted())
  })

  it('creates strictly increasing ids even if the wall clock moves backwards by up to a minute', () => {
    const base = Date.UTC(2026, 0, 2)
    const offset = fc.integer({ min: 0, max: 60_000 }).map((ms) => base + ms)
    fc.assert(
      fc.property(fc.array(offset, { minLength: 2, maxLength: 50 }), (instants) => {
        const clock = instants.values()
        const ids = createIdGenerator({ now: () => clock.next().value as number })
        const made = instants.map(() => ids.newId('run'))

        expect(made).toEqual([...new Set(made)].sort())
        expect(made.every((id) => FORM.test(id))).toBe(true)
      }),
    )
  })

  it('creates strictly increasing ids after the random part overflows', () => {
    const ids = createIdGenerator({ now: () => 1_000, random: (length) => new Uint8Array(length).fill(0xff) })
    const made = Array.from({ length: 5 }, () => ids.newId('run'))

    expect(made).toEqual([...new Set(made)].sort())
    expect(toUuid(made[4]!) >> 80n).toBe(1_001n)
  })

  it('creates 20,000 different ids within one millisecond', () => {
    const ids = createIdGenerator({ now: () => 1_000 })

    expect(new Set(Array.from({ length: 20_000 }, () => ids.newId('run'))).size).toBe(20_000)
  })

  it('returns the requested number of random bytes', () => {
    const ids = createIdGenerator()

    expect(ids.randomBytes(32)).toHaveLength(32)
    expect(ids.randomBytes(32)).not.toEqual(ids.randomBytes(32))
  })
})
