import { createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs, Logger } from '@perdure/ports'
import { aToken, BUILT_AT, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { type CredentialLoss, createCredentialWatch, withCredentialCheck } from './credential-watch.ts'

const ignore = () => undefined
const at = (ms: number) => (BUILT_AT + ms) as EpochMs

async function setUp(...tokens: Parameters<typeof aToken>[0][]) {
  const storage = createInMemoryStorage()
  for (const over of tokens) await storage.unitOfWork.commit([{ type: 'token.insert', token: aToken(over) }])
  const clock = createManualClock(BUILT_AT)
  const errors: string[] = []
  const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: (message) => void errors.push(message) }
  let reads = 0
  let isBroken = false
  const store = {
    findMany: (ids: readonly string[]) => {
      reads += 1
      return isBroken ? Promise.reject(new Error('disk')) : storage.tokens.findMany(ids)
    },
  }
  const watch = createCredentialWatch({
    tokens: store,
    subjectRevocations: storage.subjectRevocations,
    clock,
    timers: clock,
    logger,
  })
  const lost: string[] = []
  const listen = (id: string) => watch.watchCredential(id, (reason: CredentialLoss) => lost.push(`${id} ${reason}`))
  const flushPromises = () => new Promise<void>((resolve) => setImmediate(resolve))
  const advance = async (ms: number) => {
    clock.advance(ms)
    await flushPromises()
  }
  const checkedUnitOfWork = withCredentialCheck(storage.unitOfWork, watch)
  const breakStorage = (broken: boolean) => {
    isBroken = broken
  }
  return {
    storage,
    checkedUnitOfWork,
    watch,
    listen,
    lost,
    errors,
    advance,
    flushPromises,
    breakStorage,
    reads: () => reads,
  }
}

describe('createCredentialWatch', () => {
  it('reports a revocation by this process to each listener once, before the commit returns', async () => {
    const { checkedUnitOfWork, listen, lost, advance } = await setUp({ id: 'a' }, { id: 'b' })
    listen('a')
    listen('a')
    listen('b')

    await checkedUnitOfWork.commit([{ type: 'token.revoke', id: 'a', at: at(0) }])

    expect(lost).toEqual(['a revoked', 'a revoked'])
    await advance(5_000)
    expect(lost).toHaveLength(2)
  })

  it('reports a revocation by another process within a second', async () => {
    const { storage, listen, lost, advance, flushPromises } = await setUp({ id: 'a' })
    listen('a')
    await flushPromises()

    await storage.unitOfWork.commit([{ type: 'token.revoke', id: 'a', at: at(0) }])
    await advance(999)
    expect(lost).toEqual([])
    await advance(1)

    expect(lost).toEqual(['a revoked'])
  })

  it('reports an expiry at the moment it happens', async () => {
    const { listen, lost, advance, flushPromises } = await setUp({ id: 'a', expiresAt: at(1_250) })
    listen('a')
    await flushPromises()

    await advance(1_000)
    await advance(249)
    expect(lost).toEqual([])
    await advance(1)

    expect(lost).toEqual(['a expired'])
  })

  it('reports the loss of a scope', async () => {
    const { storage, listen, lost, advance, flushPromises } = await setUp({
      id: 'a',
      scopes: ['agents:read', 'runs:read'],
    })
    listen('a')
    await flushPromises()
    const { findMany } = storage.tokens
    Object.assign(storage.tokens, {
      findMany: async (ids: readonly string[]) =>
        (await findMany(ids)).map((token) => ({ ...token, scopes: ['agents:read'] })),
    })

    await advance(1_000)

    expect(lost).toEqual(['a scopes-lost'])
  })

  it('reports a token that was revoked before the watch began or does not exist', async () => {
    const { listen, lost, flushPromises } = await setUp({ id: 'a', revokedAt: at(0) })

    listen('a')
    listen('missing')
    await flushPromises()

    expect(lost.sort()).toEqual(['a revoked', 'missing revoked'])
  })

  it('does not read the storage while no token is watched', async () => {
    const { listen, reads, advance, lost } = await setUp({ id: 'a' })
    await advance(10_000)
    expect(reads()).toBe(0)

    const end = listen('a')
    await advance(1_000)
    end()
    end()
    const before = reads()
    await advance(10_000)

    expect(before).toBeGreaterThan(0)
    expect(reads()).toBe(before)
    expect(lost).toEqual([])
  })

  it('keeps polling while the storage fails, and logs the failure once', async () => {
    const { storage, listen, lost, errors, advance, flushPromises, breakStorage } = await setUp({ id: 'a' })
    listen('a')
    await flushPromises()
    breakStorage(true)
    await advance(1_000)
    await advance(1_000)
    await storage.unitOfWork.commit([{ type: 'token.revoke', id: 'a', at: at(0) }])
    breakStorage(false)

    await advance(1_000)

    expect(errors).toEqual(['cannot check the tokens of open streams and sockets'])
    expect(lost).toEqual(['a revoked'])
  })

  it('calls the remaining listeners if one listener throws', async () => {
    const { checkedUnitOfWork, watch, listen, lost, errors } = await setUp({ id: 'a' })
    watch.watchCredential('a', () => {
      throw new Error('socket')
    })
    listen('a')

    await checkedUnitOfWork.commit([{ type: 'token.revoke', id: 'a', at: at(0) }])

    expect(lost).toEqual(['a revoked'])
    expect(errors).toHaveLength(1)
  })

  const jwtUntil = (ms: number) => `jwt_${at(0)}_${at(ms)}_app:alice`
  const revocation = { subject: 'jwt:app:alice', issuedUntil: at(0), revokedAt: at(1), revokedBy: 'ops' }

  it('reports the end of a JWT at that moment, without reading a token', async () => {
    const { listen, lost, advance, reads } = await setUp()
    listen(jwtUntil(1_500))

    await advance(1_499)
    expect(lost).toEqual([])
    await advance(1)

    expect(lost).toEqual([`${jwtUntil(1_500)} expired`])
    expect(reads()).toBe(0)
  })

  it('reports the revocation of a subject to each of its JWTs that were issued before, at once', async () => {
    const { checkedUnitOfWork, listen, lost, flushPromises } = await setUp()
    const [old, other, later] = [
      jwtUntil(9_000),
      `jwt_${at(0)}_${at(9_000)}_app:bob`,
      `jwt_${at(1)}_${at(9_000)}_app:alice`,
    ]
    for (const id of [old, other, later]) listen(id)
    await flushPromises()

    await checkedUnitOfWork.commit([{ type: 'subject.revoke', revocation }])

    expect(lost).toEqual([`${old} revoked`])
  })

  it('reports the revocation of a subject by another process within a second', async () => {
    const { storage, listen, lost, advance, flushPromises } = await setUp()
    listen(jwtUntil(9_000))
    await flushPromises()
    await storage.unitOfWork.commit([{ type: 'subject.revoke', revocation }])

    await advance(1_000)

    expect(lost).toEqual([`${jwtUntil(9_000)} revoked`])
  })
})
