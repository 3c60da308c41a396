import type { Storage, TokenRecord } from '@perdure/ports'
import { expect } from 'vitest'
import { aToken } from '../builders.ts'
import { commit, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

/** Inserts tokens with these ids; `b<a` inserts `b` as a child of `a`. */
async function grow(storage: Storage, ...links: readonly string[]): Promise<void> {
  for (const link of links) {
    const [id = '', parentId] = link.split('<')
    await commit(storage, { type: 'token.insert', token: aToken({ id, parentId }) })
  }
}

const revokedIds = async (storage: Storage): Promise<readonly string[]> =>
  (await storage.tokens.list({ limit: 200, order: 'asc' })).items
    .filter(({ revokedAt }) => revokedAt !== undefined)
    .map(({ id }) => id)

const retire = (over: Partial<{ id: string; replacedBy: string; at: number; until: number }> = {}) => {
  const { id = 'a', replacedBy = 'new', at: ms = 10, until = 10 } = over
  return { type: 'token.retire', id, replacedBy, at: at(ms), until: at(until) } as const
}

const rootCases: readonly ContractCase[] = [
  {
    title: 'finds the first token of a chain of rotations, but not the tokens that minted it or that it minted',
    async run(storage) {
      await grow(storage, 'parent', 'a<parent', 'new<parent', 'newest<parent', 'child<newest', 'other')
      await commit(storage, retire({ until: 60 }))
      await commit(storage, retire({ id: 'new', replacedBy: 'newest' }))

      const roots = await Promise.all(['a', 'new', 'newest', 'parent', 'child', 'other'].map(storage.tokens.rootOf))

      expect(roots).toEqual(['a', 'a', 'a', 'parent', 'child', 'other'])
    },
  },
  {
    title: 'takes an unknown token as the first of its chain',
    async run(storage) {
      await grow(storage, 'a')

      expect(await storage.tokens.rootOf('unknown')).toBe('unknown')
    },
  },
]

const revokeCases: readonly ContractCase[] = [
  {
    title: 'revokes all descendants of a token and no others',
    async run(storage) {
      await grow(storage, 'root', 'a<root', 'b<a', 'c<b', 'd<a', 'sibling<root', 'other')

      const { counts } = await commit(storage, { type: 'token.revoke', id: 'a', at: at(5) })

      expect(counts).toEqual([4])
      expect(await revokedIds(storage)).toEqual(['a', 'b', 'c', 'd'])
    },
  },
  {
    title: 'revokes a token whose descendants are already revoked and keeps their revocation times',
    async run(storage) {
      await grow(storage, 'a', 'b<a', 'c<b')
      await commit(storage, { type: 'token.revoke', id: 'b', at: at(1) })

      const { counts } = await commit(storage, { type: 'token.revoke', id: 'a', at: at(5) })

      expect(counts).toEqual([1])
      expect((await storage.tokens.find('c'))?.revokedAt).toBe(at(1))
      expect((await storage.tokens.find('a'))?.revokedAt).toBe(at(5))
    },
  },
  {
    title: 'revokes the tokens that a token replaced, with or without a grace period, and the tokens that these minted',
    async run(storage) {
      await grow(storage, 'a', 'child<a', 'new', 'newest', 'other')
      await commit(storage, retire({ until: 60 }))
      await commit(storage, retire({ id: 'new', replacedBy: 'newest', until: 60 }))

      const { counts } = await commit(storage, { type: 'token.revoke', id: 'newest', at: at(20) })

      expect(counts).toEqual([4])
      expect(await revokedIds(storage)).toEqual(['a', 'child', 'new', 'newest'])
    },
  },
  ...(
    [
      ['missing', undefined],
      ['revoked', { revokedAt: at(0) }],
      ['expired when the token is minted', { expiresAt: at(3) }],
    ] as const
  ).map(
    ([problem, over]): ContractCase => ({
      title: `refuses a token whose parent is ${problem}`,
      async run(storage) {
        const parent = over === undefined ? undefined : aToken({ id: 'parent', ...over })
        if (parent !== undefined) await commit(storage, { type: 'token.insert', token: parent })
        const token = aToken({ id: 'child', parentId: 'parent', createdAt: at(3) })

        const outcome = await refused(storage, { type: 'token.insert', token })

        expect(outcome.conflict).toEqual({ type: 'token.insert', current: parent })
        expect(await storage.tokens.find('child')).toBeUndefined()
      },
    }),
  ),
  {
    title: 'never mints a token from a parent that is revoked concurrently',
    async run(storage) {
      await grow(storage, 'a')

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          index === 10
            ? storage.unitOfWork.commit([{ type: 'token.revoke', id: 'a', at: at(1) }])
            : storage.unitOfWork.commit([
                { type: 'token.insert', token: aToken({ id: `child-${index}`, parentId: 'a' }) },
              ]),
        ),
      )

      const children = outcomes.filter(({ committed }, index) => committed && index !== 10).length
      expect(await revokedIds(storage)).toHaveLength(children + 1)
    },
  },
]

const retireCases: readonly ContractCase[] = [
  {
    title: 'revokes a retired token at once without a grace period and moves its children to the replacement',
    async run(storage) {
      await grow(storage, 'root', 'a<root', 'child<a', 'new<root')

      await commit(storage, retire())

      expect(await storage.tokens.find('a')).toEqual(
        aToken({ id: 'a', parentId: 'root', replacedBy: 'new', revokedAt: at(10) }),
      )
      expect((await storage.tokens.find('child'))?.parentId).toBe('new')
      expect((await storage.tokens.find('child'))?.revokedAt).toBeUndefined()
    },
  },
  ...(
    [
      ['the end of the grace period', undefined, 50],
      ['its old expiry if that is earlier', at(20), 20],
    ] as const
  ).map(
    ([what, expiresAt, ms]): ContractCase => ({
      title: `sets the expiry of a token retired with a grace period to ${what}`,
      async run(storage) {
        await commit(storage, { type: 'token.insert', token: aToken({ id: 'a', expiresAt }) })

        await commit(storage, retire({ until: 50 }))

        expect(await storage.tokens.find('a')).toEqual(aToken({ id: 'a', replacedBy: 'new', expiresAt: at(ms) }))
      },
    }),
  ),
  ...(
    [
      ['revoked', { revokedAt: at(1) }],
      ['expired', { expiresAt: at(10) }],
      ['already replaced', { replacedBy: 'another' }],
    ] as const
  ).map(
    ([problem, over]): ContractCase => ({
      title: `refuses to retire a token that is ${problem}`,
      async run(storage) {
        const token: TokenRecord = aToken({ id: 'a', ...over })
        await commit(storage, { type: 'token.insert', token })

        const outcome = await refused(storage, retire({ until: 50 }))

        expect(outcome.conflict).toEqual({ type: 'token.retire', current: token })
        expect(await storage.tokens.find('a')).toEqual(token)
      },
    }),
  ),
  {
    title: 'caps the expiry of moved children at the expiry of the replacement token',
    async run(storage) {
      await grow(storage, 'a', 'child<a', 'grandchild<child')
      await commit(storage, { type: 'token.insert', token: aToken({ id: 'brief', parentId: 'a', expiresAt: at(20) }) })
      await commit(storage, { type: 'token.insert', token: aToken({ id: 'new', expiresAt: at(40) }) })

      await commit(storage, retire({ until: 30 }))

      const expiries = await Promise.all(
        ['a', 'child', 'grandchild', 'brief', 'new'].map(async (id) => (await storage.tokens.find(id))?.expiresAt),
      )
      expect(expiries).toEqual([at(30), at(40), at(40), at(20), at(40)])
    },
  },
  {
    title: 'lets exactly one of many concurrent retirements win',
    async run(storage) {
      await grow(storage, 'a')

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          storage.unitOfWork.commit([retire({ replacedBy: `new-${index}`, until: 50 })]),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    },
  },
]

const rehashCases: readonly ContractCase[] = [
  {
    title: 'rehashes a token to another digest only once',
    async run(storage) {
      const token = aToken({ id: 'a' })
      await commit(storage, { type: 'token.insert', token })
      const rehash = { type: 'token.rehash', id: 'a', from: token.digest, to: 'fresh' } as const

      expect((await commit(storage, rehash)).counts).toEqual([1])
      expect((await commit(storage, rehash)).counts).toEqual([0])

      expect(await storage.tokens.findByDigest('fresh')).toEqual({ ...token, digest: 'fresh' })
      expect(await storage.tokens.findByDigest(token.digest)).toBeUndefined()
    },
  },
  {
    title: 'refuses to rehash to the digest of another token and ignores an unknown token',
    async run(storage) {
      await grow(storage, 'a', 'b')
      const [a, b] = ['a', 'b'].map((id) => aToken({ id }).digest) as [string, string]

      const outcome = await refused(storage, { type: 'token.rehash', id: 'a', from: a, to: b })

      expect(outcome.conflict).toEqual({ type: 'token.rehash', current: aToken({ id: 'b' }) })
      expect((await commit(storage, { type: 'token.rehash', id: 'tok-unknown', from: a, to: 'x' })).counts).toEqual([0])
    },
  },
]

const storedIds = async (storage: Storage): Promise<readonly string[]> =>
  (await storage.tokens.list({ limit: 200, order: 'asc' })).items.map(({ id }) => id)

const prune = (before: number, limit = 10) => ({ type: 'token.prune', before: at(before), limit }) as const

const pruneCases: readonly ContractCase[] = [
  {
    title: 'prunes tokens that expired or were revoked before an instant, oldest first and up to the limit',
    async run(storage) {
      const ends = { expired: { expiresAt: at(5) }, revoked: { revokedAt: at(6) }, later: { expiresAt: at(10) } }
      for (const [id, end] of Object.entries({ ...ends, endless: {} }))
        await commit(storage, { type: 'token.insert', token: aToken({ id, createdAt: at(1), ...end }) })

      expect((await commit(storage, prune(5))).counts).toEqual([0])
      expect((await commit(storage, prune(10, 1))).counts).toEqual([1])
      expect(await storedIds(storage)).toEqual(['endless', 'later', 'revoked'])
      expect((await commit(storage, prune(10))).counts).toEqual([1])
      expect(await storedIds(storage)).toEqual(['endless', 'later'])
      expect(await storage.tokens.findByDigest(aToken({ id: 'expired' }).digest)).toBeUndefined()
      // The id and the digest are free again.
      await grow(storage, 'expired')
    },
  },
  {
    title: 'prunes a token only after the tokens that it minted and the token that replaced it',
    async run(storage) {
      await grow(storage, 'parent', 'a<parent', 'new<parent', 'child<new')
      await commit(storage, retire({ until: 10 }))
      await commit(storage, { type: 'token.revoke', id: 'parent', at: at(20) })

      const left: (readonly string[])[] = []
      for (let pass = 0; pass < 4; pass++) {
        await commit(storage, prune(30))
        left.push(await storedIds(storage))
      }

      expect(left).toEqual([['a', 'new', 'parent'], ['a', 'parent'], ['parent'], []])
    },
  },
  {
    title: 'keeps a retired token of a chain whose newest token is active',
    async run(storage) {
      await grow(storage, 'a', 'new')
      await commit(storage, retire({ until: 10 }))

      expect((await commit(storage, prune(100))).counts).toEqual([0])
      expect(await storage.tokens.rootOf('new')).toBe('a')
    },
  },
]

/** Cases for token parents, rotation, rehashing and pruning. */
export const tokenFamilyCases: readonly ContractCase[] = [
  ...rootCases,
  ...revokeCases,
  ...retireCases,
  ...rehashCases,
  ...pruneCases,
]
