import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryState } from '@chat-adapter/state-memory'
import { createInMemoryStorage } from '@perdure/in-memory'
import { openPostgresStorage } from '@perdure/postgres'
import { createServer } from '@perdure/server-app'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { perdureState } from './perdure-state.ts'
import { type StateWorld, stateCases } from './state-cases.fixture.ts'

type Options = Parameters<typeof createServer>[0]

/** Starts a server, and states that share its storage and a clock. */
async function startStates(options: Options = {}, states = 1) {
  const config = { auth: { kind: 'none' }, log: { level: 'error' }, ...options?.config } as const
  const adapters = { storage: createInMemoryStorage(), ...options?.adapters }
  const server = await createServer({ config, ...(options?.config?.storage ? {} : { adapters }) })
  await server.start({ listen: false })
  let now = 1_700_000_000_000
  const all = Array.from({ length: states }, () => perdureState({ now: () => now }))
  for (const state of all) {
    state.attach(server)
    await state.connect()
  }
  const advance = (ms: number) => {
    now += ms
  }
  const reader = server.client({ subject: 'chat-sdk', scopes: ['memory:read:own'] })
  const entries = async () => (await reader.memory.listBlocks().all()).length
  return { states: all, state: all[0]!, entries, advance, stop: () => server.stop({ force: true }) }
}

afterEach(() => void vi.useRealTimers())

const onPostgres = async () => {
  const url = await sharedPostgres()
  const storage = await openPostgresStorage({ url, schema: `chat_${randomUUID().replaceAll('-', '')}` })
  const config = { auth: { kind: 'none', pepperRef: 'env:TEST_PEPPER' } } as const
  vi.stubEnv('TEST_PEPPER', 'p'.repeat(40))
  const world = await startStates({ config, adapters: { storage } })
  return {
    ...world,
    stop: async () => {
      await world.stop()
      await storage.close()
    },
  }
}

const inFile = async (dir: string) => startStates({ config: { storage: { path: join(dir, 'data.db') } } })

async function openWorld(kind: string): Promise<StateWorld> {
  if (kind === 'the adapter of the Chat SDK in memory') {
    vi.useFakeTimers({ toFake: ['Date'] })
    const state = createMemoryState()
    await state.connect()
    return { state, advance: (ms) => void vi.setSystemTime(Date.now() + ms) }
  }
  const dir = mkdtempSync(join(tmpdir(), 'perdure-chat-'))
  const world = kind === 'SQLite' ? await inFile(dir) : kind === 'PostgreSQL' ? await onPostgres() : await startStates()
  onTestFinished(async () => {
    await world.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  return world
}

describe.each(['the adapter of the Chat SDK in memory', 'a storage in memory', 'SQLite'])('the state on %s', (kind) => {
  it.each(stateCases.map((one) => [one.title, one.run] as const))('%s', async (_, run) => {
    await run(await openWorld(kind))
  })
})

needsTool('PostgreSQL').describe('the state on PostgreSQL', () => {
  it.each(stateCases.map((one) => [one.title, one.run] as const))('%s', async (_, run) => {
    await run(await openWorld('PostgreSQL'))
  })
})

describe('perdureState', () => {
  it('keeps locks, subscriptions, lists and values after a crash', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'perdure-chat-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const before = await inFile(dir)
    await before.state.subscribe('t')
    await before.state.set('k', 'v')
    await before.state.appendToList('l', 1)
    expect(await before.state.acquireLock('t', 30_000)).not.toBeNull()
    await before.stop()

    const { state, advance, stop } = await inFile(dir)
    onTestFinished(stop)
    expect([await state.isSubscribed('t'), await state.get('k'), await state.getList('l')]).toEqual([true, 'v', [1]])
    expect(await state.acquireLock('t', 30_000)).toBeNull()
    advance(30_001)
    expect(await state.acquireLock('t', 30_000)).not.toBeNull()
  })

  it('lets a repeated delivery keep what its interrupted try has claimed and locked, and no other delivery', async () => {
    const { states, stop } = await startStates({}, 2)
    onTestFinished(stop)
    const [crashed, next] = [states[0]!, states[1]!]
    await crashed.duringDelivery('d-1', async () => {
      expect(await crashed.setIfNotExists('dedupe:m', true)).toBe(true)
      expect(await crashed.acquireLock('t', 30_000)).not.toBeNull()
    })

    expect(await next.duringDelivery('d-2', () => next.setIfNotExists('dedupe:m', true))).toBe(false)
    expect(await next.setIfNotExists('dedupe:m', true)).toBe(false)
    expect(await next.acquireLock('t', 30_000)).toBeNull()
    await next.duringDelivery('d-1', async () => {
      expect(await next.setIfNotExists('dedupe:m', true)).toBe(true)
      expect(await next.acquireLock('t', 30_000)).not.toBeNull()
    })
  })

  it('does not give a lock twice within one delivery, and waits in a delivery for the lock of another one', async () => {
    const { state, stop } = await startStates()
    onTestFinished(stop)
    const held = await state.duringDelivery('d-1', () => state.acquireLock('t', 60_000))
    expect(held).not.toBeNull()

    const waiting = state.duringDelivery('d-2', () => state.acquireLock('t', 60_000))
    const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))])
    expect(early).toBe('waits')
    await state.releaseLock(held!)
    expect(await waiting).not.toBeNull()
  })

  it('removes expired entries, and keeps the others', async () => {
    const { state, entries, advance, stop } = await startStates()
    onTestFinished(stop)
    await state.set('kept', 1)
    for (let n = 0; n < 30; n++) await state.set(`old-${n}`, n, 1_000)
    advance(1_001)
    for (let n = 0; n < 500; n++) await state.set('busy', n)

    expect(await state.get('kept')).toBe(1)
    expect(await entries()).toBe(2)
  })

  it('names the member of the configuration that is missing if it has no server', async () => {
    await expect(perdureState().get('k')).rejects.toThrow('hooks.onReady')
  })
})
