import type { Storage, TokenRecord } from '@perdure/ports'
import { expect } from 'vitest'
import { aToken } from '../builders.ts'
import { commit, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

/** Inserts tokens of these ids; `b<a` descends from `a`. */
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

const revokeCases: readonly ContractCase[] = [
  {
    title: 'a revocation takes along all that descend from the token, and nobody else',
    async run(storage) {
      await grow(storage, 'root', 'a<root', 'b<a', 'c<b', 'd<a', 'sibling<root', 'other')

      const { counts } = await commit(storage, { type: 'token.revoke', id: 'a', at: at(5) })

      expect(counts).toEqual([4])
      expect(await revokedIds(storage)).toEqual(['a', 'b', 'c', 'd'])
    },
  },
  {
    title: 'a revocation reaches below a descendant that is revoked already, and keeps its time',
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
    title: 'a revocation takes along what the token has replaced, grace or not, and what it had minted before',
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
      ['expired when the token is made', { expiresAt: at(3) }],
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
    title: 'never lets a token be made by a parent that is revoked at the same time',
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
    title: 'retires a token at once without a grace, and hands its children on',
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
      ['the end of the grace', undefined, 50],
      ['what it was, when that is earlier', at(20), 20],
    ] as const
  ).map(
    ([what, expiresAt, ms]): ContractCase => ({
      title: `a retirement with a grace sets the expiry to ${what}`,
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
      ['replaced already', { replacedBy: 'another' }],
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
    title: 'a retirement lets nothing that it hands on outlive the new token',
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
    title: 'lets exactly one of many retirements win',
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
    title: 'a rehash moves a token to another digest, once',
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
    title: 'refuses a rehash to a digest that another token has, and ignores one of an unknown token',
    async run(storage) {
      await grow(storage, 'a', 'b')
      const [a, b] = ['a', 'b'].map((id) => aToken({ id }).digest) as [string, string]

      const outcome = await refused(storage, { type: 'token.rehash', id: 'a', from: a, to: b })

      expect(outcome.conflict).toEqual({ type: 'token.rehash', current: aToken({ id: 'b' }) })
      expect((await commit(storage, { type: 'token.rehash', id: 'tok-unknown', from: a, to: 'x' })).counts).toEqual([0])
    },
  },
]

/** Descent, rotation and re-hashing of tokens. */
export const tokenFamilyCases: readonly ContractCase[] = [...revokeCases, ...retireCases, ...rehashCases]
