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
  let asked = 0
  let isBroken = false
  const store = {
    findMany: (ids: readonly string[]) => {
      asked += 1
      return isBroken ? Promise.reject(new Error('disk')) : storage.tokens.findMany(ids)
    },
  }
  const watch = createCredentialWatch({ tokens: store, clock, timers: clock, logger })
  const lost: string[] = []
  const listen = (id: string) => watch.watchCredential(id, (reason: CredentialLoss) => lost.push(`${id} ${reason}`))
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  const pass = async (ms: number) => {
    clock.advance(ms)
    await settle()
  }
  const own = withCredentialCheck(storage.unitOfWork, watch)
  const breakStorage = (broken: boolean) => {
    isBroken = broken
  }
  return { storage, own, watch, listen, lost, errors, pass, settle, breakStorage, asked: () => asked }
}

describe('createCredentialWatch', () => {
  it('tells of a revocation by this process before the commit is answered, to every listener once', async () => {
    const { own, listen, lost, pass } = await setUp({ id: 'a' }, { id: 'b' })
    listen('a')
    listen('a')
    listen('b')

    await own.commit([{ type: 'token.revoke', id: 'a', at: at(0) }])

    expect(lost).toEqual(['a revoked', 'a revoked'])
    await pass(5_000)
    expect(lost).toHaveLength(2)
  })

  it('tells of a revocation by another process within a second', async () => {
    const { storage, listen, lost, pass, settle } = await setUp({ id: 'a' })
    listen('a')
    await settle()

    await storage.unitOfWork.commit([{ type: 'token.revoke', id: 'a', at: at(0) }])
    await pass(999)
    expect(lost).toEqual([])
    await pass(1)

    expect(lost).toEqual(['a revoked'])
  })

  it('tells of an expiry at its moment', async () => {
    const { listen, lost, pass, settle } = await setUp({ id: 'a', expiresAt: at(1_250) })
    listen('a')
    await settle()

    await pass(1_000)
    await pass(249)
    expect(lost).toEqual([])
    await pass(1)

    expect(lost).toEqual(['a expired'])
  })

  it('tells when a scope is gone that the token had', async () => {
    const { storage, listen, lost, pass, settle } = await setUp({ id: 'a', scopes: ['agents:read', 'runs:read'] })
    listen('a')
    await settle()
    const { findMany } = storage.tokens
    Object.assign(storage.tokens, {
      findMany: async (ids: readonly string[]) =>
        (await findMany(ids)).map((token) => ({ ...token, scopes: ['agents:read'] })),
    })

    await pass(1_000)

    expect(lost).toEqual(['a scopes-lost'])
  })

  it('finds a token that was lost before the watch began, or is not there at all', async () => {
    const { listen, lost, settle } = await setUp({ id: 'a', revokedAt: at(0) })

    listen('a')
    listen('nobody')
    await settle()

    expect(lost.sort()).toEqual(['a revoked', 'nobody revoked'])
  })

  it('asks nothing while nothing is watched', async () => {
    const { listen, asked, pass, lost } = await setUp({ id: 'a' })
    await pass(10_000)
    expect(asked()).toBe(0)

    const end = listen('a')
    await pass(1_000)
    end()
    end()
    const before = asked()
    await pass(10_000)

    expect(before).toBeGreaterThan(0)
    expect(asked()).toBe(before)
    expect(lost).toEqual([])
  })

  it('keeps looking when the storage fails for a while, and says so once', async () => {
    const { storage, listen, lost, errors, pass, settle, breakStorage } = await setUp({ id: 'a' })
    listen('a')
    await settle()
    breakStorage(true)
    await pass(1_000)
    await pass(1_000)
    await storage.unitOfWork.commit([{ type: 'token.revoke', id: 'a', at: at(0) }])
    breakStorage(false)

    await pass(1_000)

    expect(errors).toEqual(['open streams and sockets not checked for lost tokens'])
    expect(lost).toEqual(['a revoked'])
  })

  it('tells the others when one listener throws', async () => {
    const { own, watch, listen, lost, errors } = await setUp({ id: 'a' })
    watch.watchCredential('a', () => {
      throw new Error('socket')
    })
    listen('a')

    await own.commit([{ type: 'token.revoke', id: 'a', at: at(0) }])

    expect(lost).toEqual(['a revoked'])
    expect(errors).toHaveLength(1)
  })
})
