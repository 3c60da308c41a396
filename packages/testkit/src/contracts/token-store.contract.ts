import { type Storage, type TokenRecord, toJsonText } from '@perdure/ports'
import { expect } from 'vitest'
import { aToken } from '../builders.ts'
import { commit, idsOf, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'
import { tokenFamilyCases } from './token-family.contract.ts'

const OPTIONALS: Optionals<TokenRecord> = {
  expiresAt: at(1),
  lastUsedAt: at(2),
  revokedAt: at(3),
  parentId: 'parent',
  replacedBy: 'successor',
  caller: toJsonText({ name: 'Grüße 🚢', claims: { plan: 'pro' } }),
}

const insertTokens = (storage: Storage, ...tokens: readonly TokenRecord[]) =>
  commit(storage, ...tokens.map((token) => ({ type: 'token.insert', token }) as const))

const findCases: readonly ContractCase[] = [
  {
    title: 'finds no token by an unknown id or digest',
    async run(storage) {
      await insertTokens(storage, aToken())

      expect(await storage.tokens.find('tok-unknown')).toBeUndefined()
      expect(await storage.tokens.findByDigest('unknown')).toBeUndefined()
      expect(await storage.tokens.findByDigest(aToken().id)).toBeUndefined()
    },
  },
  {
    title: 'round-trips a token by id and digest with all, one and none of the optional fields',
    async run(storage) {
      const tokens = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aToken({ id: `tok-${index}`, name: 'Grüße 🚢', ...fields }),
      )
      await insertTokens(storage, aToken({ id: 'parent' }), ...tokens)

      for (const token of tokens) {
        expect(await storage.tokens.find(token.id)).toEqual(token)
        expect(await storage.tokens.findByDigest(token.digest)).toEqual(token)
      }
    },
  },
  {
    title: 'round-trips the scopes of a token in order, including an empty list',
    async run(storage) {
      const many = aToken({ id: 'many', scopes: ['runs:read:b', 'admin:*', 'runs:read:a'] })
      await insertTokens(storage, many, aToken({ id: 'none', scopes: [] }))

      expect((await storage.tokens.find('many'))?.scopes).toEqual(many.scopes)
      expect((await storage.tokens.find('none'))?.scopes).toEqual([])
    },
  },
  {
    title: 'returns several tokens by id, each once, and leaves out unknown ids',
    async run(storage) {
      const tokens = ['a', 'b', 'c'].map((id) => aToken({ id }))
      await insertTokens(storage, ...tokens)

      const found = await storage.tokens.findMany(['c', 'tok-unknown', 'a', 'c'])

      expect([...found].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([tokens[0], tokens[2]])
      expect(await storage.tokens.findMany([])).toEqual([])
    },
  },
  {
    title: 'lists tokens with all their fields, including revoked and expired ones',
    async run(storage) {
      const tokens = [aToken({ id: 'a', revokedAt: at(0) }), aToken({ id: 'b', expiresAt: at(0), createdAt: at(1) })]
      await insertTokens(storage, ...tokens)

      expect(await storage.tokens.list({ limit: 200, order: 'asc' })).toEqual({ items: tokens, nextCursor: null })
    },
  },
]

const writeCases: readonly ContractCase[] = [
  {
    title: 'refuses a token with a taken id or digest and returns the existing token',
    async run(storage) {
      await insertTokens(storage, aToken({ id: 'a' }), aToken({ id: 'b' }))

      const sameId = await refused(storage, { type: 'token.insert', token: aToken({ id: 'a', digest: 'new' }) })
      const sameDigest = await refused(storage, {
        type: 'token.insert',
        token: aToken({ id: 'c', digest: aToken({ id: 'b' }).digest }),
      })

      expect(sameId.conflict).toEqual({ type: 'token.insert', current: aToken({ id: 'a' }) })
      expect(sameDigest.conflict).toEqual({ type: 'token.insert', current: aToken({ id: 'b' }) })
      expect(await idsOf((page) => storage.tokens.list(page))).toEqual(['a', 'b'])
      expect(await storage.tokens.findByDigest('new')).toBeUndefined()
    },
  },
  {
    title: 'frees the digest of a token whose insertion is rolled back',
    async run(storage) {
      const token = aToken({ id: 'a' })
      await refused(storage, { type: 'token.insert', token }, { type: 'token.revoke', id: 'tok-unknown', at: at(1) })

      expect(await storage.tokens.findByDigest(token.digest)).toBeUndefined()
      await insertTokens(storage, { ...token, id: 'b' })
      expect(await storage.tokens.findByDigest(token.digest)).toEqual({ ...token, id: 'b' })
    },
  },
  {
    title: 'sets only revokedAt on a revocation',
    async run(storage) {
      const token = aToken({ id: 'a', expiresAt: at(1), lastUsedAt: at(2) })
      await insertTokens(storage, token, aToken({ id: 'b' }))

      const { counts } = await commit(storage, { type: 'token.revoke', id: 'a', at: at(50) })

      expect(counts).toEqual([1])
      expect(await storage.tokens.find('a')).toEqual({ ...token, revokedAt: at(50) })
      expect(await storage.tokens.findByDigest(token.digest)).toEqual({ ...token, revokedAt: at(50) })
      expect(await storage.tokens.find('b')).toEqual(aToken({ id: 'b' }))
    },
  },
  {
    title: 'keeps the time of the first revocation',
    async run(storage) {
      await insertTokens(storage, aToken({ id: 'a' }))
      await commit(storage, { type: 'token.revoke', id: 'a', at: at(50) })

      const { counts } = await commit(storage, { type: 'token.revoke', id: 'a', at: at(60) })

      expect(counts).toEqual([0])
      expect((await storage.tokens.find('a'))?.revokedAt).toBe(at(50))
    },
  },
  {
    title: 'refuses to revoke an unknown token and returns no current token',
    async run(storage) {
      const outcome = await refused(storage, { type: 'token.revoke', id: 'tok-unknown', at: at(1) })

      expect(outcome.conflict).toEqual({ type: 'token.revoke' })
    },
  },
  {
    title: 'sets only lastUsedAt on every touch',
    async run(storage) {
      const token = aToken({ id: 'a', revokedAt: at(1) })
      await insertTokens(storage, token, aToken({ id: 'b' }))

      for (const ms of [10, 20]) {
        expect((await commit(storage, { type: 'token.touch', id: 'a', at: at(ms) })).counts).toEqual([1])
        expect(await storage.tokens.find('a')).toEqual({ ...token, lastUsedAt: at(ms) })
      }
      expect(await storage.tokens.find('b')).toEqual(aToken({ id: 'b' }))
    },
  },
  {
    title: 'ignores a touch of an unknown token',
    async run(storage) {
      expect((await commit(storage, { type: 'token.touch', id: 'tok-unknown', at: at(1) })).counts).toEqual([0])
      expect(await storage.tokens.find('tok-unknown')).toBeUndefined()
    },
  },
]

export const tokenStoreCases: readonly ContractCase[] = [
  ...findCases,
  ...writeCases,
  ...tokenFamilyCases,
  ...pagedListCases({
    noun: 'tokens',
    insert: (storage, { id, createdAt, text }) => insertTokens(storage, aToken({ id, createdAt, name: text })),
    list: (storage, page) => storage.tokens.list(page),
  }),
]

/** Requirements for every `TokenStore` and for writes of tokens. */
export const tokenStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'TokenStore', cases: tokenStoreCases }], harness)
