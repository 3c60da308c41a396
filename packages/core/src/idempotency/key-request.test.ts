import { createHash } from 'node:crypto'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type Digest, type EpochMs, type IdempotencyStore, plusMs, type TokenRecord } from '@perdure/ports'
import { anIdempotencyRecord, aToken, BUILT_AT, createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createKeyRequest, legacyId } from './key-request.ts'
import type { Credential, KeyedRequest, RequestIdentity } from './keyed-request.ts'

/** A digest that returns its input, so that tests can compare the hashed text. */
const identityDigest = { sha256: (text: string) => text } as Digest

const realDigest = { sha256: (text: string) => createHash('sha256').update(text).digest('hex') } as Digest

/** A digest without collisions in its first 32 characters. */
const collisionFreeDigest = (): Digest => {
  const seen = new Map<string, string>()
  const sha256 = (text: string) => {
    const hash = seen.get(text) ?? String(seen.size).padStart(64, '0').slice(32).padEnd(64, '-')
    seen.set(text, hash)
    return hash
  }
  return { sha256 } as Digest
}

const clock = createManualClock(BUILT_AT)

describe('createKeyRequest', () => {
  const request: RequestIdentity = {
    subject: 'alice',
    method: 'POST',
    path: '/v1/agents/echo/run',
    query: [
      ['b', '1'],
      ['a', '2'],
      ['a', '1'],
    ],
    body: { input: { x: 1, y: [2] }, userId: 'u' },
  }
  const { idempotency, tokens } = createInMemoryStorage()
  const keyRequest = createKeyRequest({ digest: identityDigest, clock, idempotency, tokens })
  // The first call checks whether the storage holds ids of an earlier release; all later calls are synchronous.
  beforeAll(async () => void (await keyRequest(request, 'k')))
  const keyed = (over: Partial<RequestIdentity> = {}, key = 'k') =>
    keyRequest({ ...request, ...over }, key) as KeyedRequest

  it('ignores the order of query parameters and of members', () => {
    const same = keyed({
      query: [...request.query].reverse(),
      body: { userId: 'u', input: { y: [2], x: 1 } },
    })

    expect(same).toEqual(keyed())
  })

  it.each<[string, Partial<RequestIdentity>]>([
    ['another path', { path: '/v1/agents/other/run' }],
    ['another query value', { query: [['a', '1']] }],
    ['a repeated query pair', { query: [...request.query, ['b', '1']] }],
    ['another body member', { body: { input: { x: 1, y: [3] }, userId: 'u' } }],
    ['another list', { body: { input: { x: 1, y: [2, 2] }, userId: 'u' } }],
    ['no body', { body: undefined }],
    ['a null body', { body: null }],
  ])('changes the fingerprint for %s', (_, over) => {
    expect(keyed(over).fingerprint).not.toBe(keyed().fingerprint)
  })

  it('distinguishes a missing body from a null body', () => {
    expect(keyed({ body: undefined }).fingerprint).not.toBe(keyed({ body: null }).fingerprint)
  })

  it('derives the id from caller, route and key, and not from query or body', async () => {
    expect(keyed({ query: [], body: 1 }).id).toBe(keyed().id)
    const keyRequest = createKeyRequest({ digest: collisionFreeDigest(), clock, idempotency, tokens })
    await keyRequest(request, 'k')
    const idOf = ({ key, ...over }: Partial<RequestIdentity> & { key: string }) =>
      (keyRequest({ ...request, ...over }, key) as KeyedRequest).id
    const identity = fc.record({ subject: fc.string(), method: fc.string(), path: fc.string(), key: fc.string() })
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b)

        expect(idOf(a) === idOf(b)).toBe(isSame)
      }),
    )
  })

  it('gives two queries the same fingerprint only if one is a permutation of the other', () => {
    const query = fc.array(fc.tuple(fc.constantFrom('a', 'b', '"'), fc.constantFrom('', 'x', ',')), { maxLength: 3 })
    const sorted = (pairs: ReadonlyArray<readonly [string, string]>) =>
      JSON.stringify(pairs.map((pair) => JSON.stringify(pair)).sort())
    fc.assert(
      fc.property(query, query, (a, b) => {
        expect(keyed({ query: a }).fingerprint === keyed({ query: b }).fingerprint).toBe(sorted(a) === sorted(b))
      }),
      { numRuns: 1_000 },
    )
  })

  it('derives ids that sort in the same order as their keys', () => {
    const ids = ['01a', '01b', '01c', '02a'].map((key) => keyed({}, key).id)

    expect([...ids].sort()).toEqual(ids)
  })
})

describe('a key of a request whose answer contains a secret', () => {
  const identity: RequestIdentity = { subject: 'alice', method: 'POST', path: '/v1/tokens', query: [], body: {} }

  const setUpTokens = async () => {
    const storage = createInMemoryStorage()
    const insert = (over: Partial<TokenRecord>) => ({ type: 'token.insert', token: aToken(over) }) as const
    const at = BUILT_AT as EpochMs
    const retire = { type: 'token.retire', id: 'old', replacedBy: 'new', at, until: at } as const
    const outcome = await storage.unitOfWork.commit([
      ...[insert({ id: 'old' }), insert({ id: 'new' }), retire],
      ...[insert({ id: 'minted', parentId: 'new' }), insert({ id: 'other' })],
    ])
    expect(outcome.committed).toBe(true)
    const keyRequest = createKeyRequest({ ...storage, digest: realDigest, clock })
    const keyed = async (sealedFor: Credential | undefined, key = 'k') => keyRequest({ ...identity, sealedFor }, key)
    const ofToken = (tokenId: string) => keyed({ tokenId, scopes: ['tokens:create'] })
    return { storage, keyed, ofToken }
  }

  it('belongs to a token and to the tokens that replaced it', async () => {
    const { ofToken } = await setUpTokens()
    const old = await ofToken('old')

    expect(old).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{32}:k$/), sealed: true })
    expect(await ofToken('new')).toEqual(old)
  })

  it('is another key for each other token of the subject, even one that the token has minted', async () => {
    const { ofToken, keyed } = await setUpTokens()
    const ids = await Promise.all(['old', 'minted', 'other'].map(async (id) => (await ofToken(id)).id))

    expect(new Set([...ids, (await keyed(undefined)).id]).size).toBe(4)
  })

  it('belongs to the scopes of a caller without a token', async () => {
    const { keyed } = await setUpTokens()
    const admin = await keyed({ scopes: ['admin:*'] })

    expect(await keyed({ scopes: ['admin:*'] })).toEqual(admin)
    expect((await keyed({ scopes: ['tokens:create'] })).id).not.toBe(admin.id)
    expect((await keyed({ tokenId: 'admin:*', scopes: [] })).id).not.toBe(admin.id)
  })

  it.each([
    ['before schema version 18', async () => legacyId(realDigest, identity, 'k')],
    [
      'before keys had families',
      async (keyed: (holder: undefined) => Promise<KeyedRequest>) => (await keyed(undefined)).id,
    ],
  ])('is refused if an earlier release stored its answer: %s', async (_, idOf) => {
    const { storage, keyed, ofToken } = await setUpTokens()
    const record = anIdempotencyRecord({
      id: await idOf(keyed),
      createdAt: clock.now(),
      expiresAt: plusMs(clock.now(), 9),
    })
    await storage.unitOfWork.commit([{ type: 'idempotency.reserve', record, now: clock.now() }])

    await expect(ofToken('old')).rejects.toMatchObject({ code: 'idempotency-conflict', hint: 'use a new key' })
    await expect(keyed({ tokenId: 'old', scopes: [] }, 'k2')).resolves.toMatchObject({ sealed: true })
  })
})

describe('idempotency key of an earlier release', () => {
  const identity: RequestIdentity = { subject: 'alice', method: 'POST', path: '/v1/x', query: [], body: {} }

  const setUpUpgraded = async (holdsLegacyIds: () => Promise<boolean>) => {
    const storage = createInMemoryStorage()
    const idempotency: IdempotencyStore = { ...storage.idempotency, holdsLegacyIds }
    const record = anIdempotencyRecord({ id: legacyId(identityDigest, identity, 'old'), createdAt: clock.now() })
    await storage.unitOfWork.commit([{ type: 'idempotency.reserve', record, now: clock.now() }])
    return { id: record.id, keyRequest: createKeyRequest({ ...storage, digest: identityDigest, clock, idempotency }) }
  }

  it('keeps its legacy id while its record exists; other keys get a new id', async () => {
    const { id, keyRequest } = await setUpUpgraded(async () => true)

    expect(await keyRequest(identity, 'old')).toMatchObject({ id })
    expect(await keyRequest(identity, 'new')).toMatchObject({ id: expect.stringMatching(/:new$/) })
    expect(await keyRequest({ ...identity, subject: 'bob' }, 'old')).toMatchObject({
      id: expect.stringMatching(/:old$/),
    })
  })

  it('is no longer looked up once the storage holds no legacy ids', async () => {
    const answers = [true, false]
    const { id, keyRequest } = await setUpUpgraded(async () => answers.shift() ?? true)

    expect(await keyRequest(identity, 'old')).toMatchObject({ id })
    expect(await keyRequest(identity, 'old')).toMatchObject({ id: expect.stringMatching(/:old$/) })
    expect(keyRequest(identity, 'old')).not.toBeInstanceOf(Promise)
    expect(answers).toEqual([])
  })
})
