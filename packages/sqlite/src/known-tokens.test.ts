import type { CommitOutcome, TokenRecord, Write, WriteType } from '@perdure/ports'
import { keepTokens } from '@perdure/storage'
import { aToken, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'

const CHANGES = {
  'token.insert': true,
  'token.revoke': true,
  'token.retire': true,
  'token.rehash': true,
  'token.touch': true,
  'token.prune': true,
  'subject.revoke': true,
} satisfies Record<Extract<WriteType, `token.${string}` | 'subject.revoke'>, true>

const COMMITTED: CommitOutcome = { committed: true, events: [], counts: [] }

/** A storage with one token; each method can be held. */
function openStores() {
  let token: TokenRecord | undefined = aToken()
  let reads = 0
  const findByDigest = async (): Promise<TokenRecord | undefined> => {
    reads++
    return token
  }
  const parts = { find: findByDigest, commit: async (): Promise<CommitOutcome> => COMMITTED }
  const stores = keepTokens({
    tokens: { findByDigest: () => parts.find() },
    unitOfWork: { commit: () => parts.commit() },
  } as unknown as Parameters<typeof keepTokens>[0])
  return {
    parts,
    find: () => stores.tokens.findByDigest('digest'),
    findAnother: (digest: string) => stores.tokens.findByDigest(digest),
    commit: (type: string) => stores.unitOfWork.commit([{ type } as Write]),
    set: (next: TokenRecord | undefined) => {
      token = next
    },
    reads: () => reads,
  }
}

const REVOKED = aToken({ revokedAt: BUILT_AT })

describe('keepTokens', () => {
  it('reads a token once', async () => {
    const stores = openStores()
    const first = await stores.find()

    expect(await stores.find()).toEqual(first)
    expect(stores.reads()).toBe(1)
  })

  it.each(Object.keys(CHANGES))('reads again after %s', async (type) => {
    const stores = openStores()
    await stores.find()
    stores.set(REVOKED)
    await stores.commit(type)

    expect(await stores.find()).toEqual(REVOKED)
  })

  it('keeps tokens beyond a commit that changes no token', async () => {
    const stores = openStores()
    await stores.find()
    await stores.commit('run.insert')
    await stores.find()

    expect(stores.reads()).toBe(1)
  })

  it('does not keep what a read found that overlapped a change', async () => {
    const stores = openStores()
    const found = Promise.withResolvers<TokenRecord | undefined>()
    const held = { ...stores.parts }
    stores.parts.find = () => found.promise
    const early = stores.find()
    await stores.commit('token.revoke')
    stores.parts.find = held.find
    stores.set(REVOKED)
    found.resolve(aToken())
    await early

    expect(await stores.find()).toEqual(REVOKED)
  })

  it('does not keep what it reads while a change is committed', async () => {
    const stores = openStores()
    const committed = Promise.withResolvers<CommitOutcome>()
    stores.parts.commit = () => committed.promise
    const change = stores.commit('token.revoke')
    await stores.find()
    stores.set(REVOKED)
    committed.resolve(COMMITTED)
    await change

    expect(await stores.find()).toEqual(REVOKED)
  })

  it('reads again after a commit that failed', async () => {
    const stores = openStores()
    await stores.find()
    stores.parts.commit = () => Promise.reject(new Error('the disk is full'))
    await expect(stores.commit('token.touch')).rejects.toThrow('the disk is full')
    await stores.find()

    expect(stores.reads()).toBe(2)
  })

  it('keeps no token that does not exist', async () => {
    const stores = openStores()
    stores.set(undefined)
    await stores.find()
    stores.set(REVOKED)

    expect(await stores.find()).toEqual(REVOKED)
  })

  it('keeps a bounded number of tokens', async () => {
    const stores = openStores()
    await stores.find()
    for (let number = 0; number < 1_000; number++) await stores.findAnother(`digest-${number}`)
    const before = stores.reads()
    await stores.find()

    expect(stores.reads()).toBe(before + 1)
  })
})
