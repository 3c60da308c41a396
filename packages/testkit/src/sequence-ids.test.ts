import { ID_PREFIXES, type IdKind } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { createSequenceIds } from './sequence-ids.ts'

describe('createSequenceIds', () => {
  it('generates ids of every kind in the production format', () => {
    const ids = createSequenceIds()

    for (const kind of Object.keys(ID_PREFIXES) as IdKind[]) {
      expect(ids.newId(kind)).toMatch(new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`))
    }
  })

  it('generates distinct ids that sort in order of creation', () => {
    const ids = createSequenceIds()
    const made = Array.from({ length: 2_000 }, () => ids.newId('run'))

    expect(new Set(made).size).toBe(made.length)
    expect(made.toSorted()).toEqual(made)
  })

  it('generates the same ids in every generator', () => {
    const [one, other] = [createSequenceIds(), createSequenceIds()]

    expect([one.newId('token'), one.randomBytes(8)]).toEqual([other.newId('token'), other.randomBytes(8)])
  })

  it('returns bytes of the requested length that differ between calls', () => {
    const ids = createSequenceIds()
    const [first, second] = [ids.randomBytes(32), ids.randomBytes(32)]

    expect([first.length, second.length, ids.randomBytes(0).length]).toEqual([32, 32, 0])
    expect(first).not.toEqual(second)
  })
})
