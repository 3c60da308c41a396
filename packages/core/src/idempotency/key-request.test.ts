import { createInMemoryStorage } from '@perdure/in-memory'
import type { Digest, IdempotencyStore } from '@perdure/ports'
import { anIdempotencyRecord, BUILT_AT, createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createKeyRequest, hashedId } from './key-request.ts'
import type { KeyedRequest, RequestIdentity } from './keyed-request.ts'

/** Hashes to the text itself, so that what is hashed can be compared. */
const transparent = { sha256: (text: string) => text } as Digest

/** Tells all texts apart by their first 32 characters, as 128 bits of a hash do. */
const numbering = (): Digest => {
  const seen = new Map<string, string>()
  const sha256 = (text: string) => {
    const known = seen.get(text) ?? String(seen.size).padStart(64, '0').slice(32).padEnd(64, '-')
    seen.set(text, known)
    return known
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
  const { idempotency } = createInMemoryStorage()
  const keyRequest = createKeyRequest({ digest: transparent, clock, idempotency })
  // The first call asks the storage whether it holds ids of an earlier release; all later ones are synchronous.
  beforeAll(async () => void (await keyRequest(request, 'k')))
  const keyed = (over: Partial<RequestIdentity> = {}, key = 'k') =>
    keyRequest({ ...request, ...over }, key) as KeyedRequest

  it('does not care for the order of the query and of members', () => {
    const same = keyed({
      query: [...request.query].reverse(),
      body: { userId: 'u', input: { y: [2], x: 1 } },
    })

    expect(same).toEqual(keyed())
  })

  it.each<[string, Partial<RequestIdentity>]>([
    ['path', { path: '/v1/agents/other/run' }],
    ['a query value', { query: [['a', '1']] }],
    ['a repeated query pair', { query: [...request.query, ['b', '1']] }],
    ['a body member', { body: { input: { x: 1, y: [3] }, userId: 'u' } }],
    ['the order of a list', { body: { input: { x: 1, y: [2, 2] }, userId: 'u' } }],
    ['no body', { body: undefined }],
    ['a null body', { body: null }],
  ])('has another fingerprint with another %s', (_, over) => {
    expect(keyed(over).fingerprint).not.toBe(keyed().fingerprint)
  })

  it('tells no body from a null body', () => {
    expect(keyed({ body: undefined }).fingerprint).not.toBe(keyed({ body: null }).fingerprint)
  })

  it('has the same id whatever query and body are, and another one for every other caller, route and key', async () => {
    expect(keyed({ query: [], body: 1 }).id).toBe(keyed().id)
    const keyRequest = createKeyRequest({ digest: numbering(), clock, idempotency })
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

  it('tells any two queries apart that are not each other in another order', () => {
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

  it('gives keys that come in order ids that lie in order', () => {
    const ids = ['01a', '01b', '01c', '02a'].map((key) => keyed({}, key).id)

    expect([...ids].sort()).toEqual(ids)
  })
})

describe('a key of an earlier release', () => {
  const identity: RequestIdentity = { subject: 'alice', method: 'POST', path: '/v1/x', query: [], body: {} }

  const upgraded = async (holdsLegacyIds: () => Promise<boolean>) => {
    const storage = createInMemoryStorage()
    const idempotency: IdempotencyStore = { ...storage.idempotency, holdsLegacyIds }
    const record = anIdempotencyRecord({ id: hashedId(transparent, identity, 'old'), createdAt: clock.now() })
    await storage.unitOfWork.commit([{ type: 'idempotency.reserve', record, now: clock.now() }])
    return { id: record.id, keyRequest: createKeyRequest({ digest: transparent, clock, idempotency }) }
  }

  it('goes on under the id of its record as long as it counts, and no other key does', async () => {
    const { id, keyRequest } = await upgraded(async () => true)

    expect(await keyRequest(identity, 'old')).toMatchObject({ id })
    expect(await keyRequest(identity, 'new')).toMatchObject({ id: expect.stringMatching(/:new$/) })
    expect(await keyRequest({ ...identity, subject: 'bob' }, 'old')).toMatchObject({
      id: expect.stringMatching(/:old$/),
    })
  })

  it('is not looked for any more once the storage holds none', async () => {
    const answers = [true, false]
    const { id, keyRequest } = await upgraded(async () => answers.shift() ?? true)

    expect(await keyRequest(identity, 'old')).toMatchObject({ id })
    expect(await keyRequest(identity, 'old')).toMatchObject({ id: expect.stringMatching(/:old$/) })
    expect(keyRequest(identity, 'old')).not.toBeInstanceOf(Promise)
    expect(answers).toEqual([])
  })
})
