import type { PageQuery } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate } from '../engine/test-engine.fixture.ts'
import type { AgentRegistration } from './agent.ts'

const code = async () => 1

const reading = (...ids: readonly string[]) =>
  createTestEngine({ agents: ids.map((id) => agentOf(id, code)) }).readAgents

describe('list', () => {
  it('returns every agent once in id order, whatever the page size', () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,3}$/), { maxLength: 12 })
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 5 }), fc.constantFrom('asc', 'desc'), (given, limit, order) => {
        const { list } = reading(...given)
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const page: PageQuery = { limit, order, cursor }
          const { items, nextCursor } = list(page)
          seen.push(...items.map(({ id }) => id))
          cursor = nextCursor ?? undefined
        } while (cursor !== undefined)

        const sorted = [...given].sort()
        expect(seen).toEqual(order === 'asc' ? sorted : sorted.reverse())
      }),
    )
  })

  it('returns no cursor with the last agent, even if its page is full', () => {
    expect(reading('a', 'b').list({ limit: 2, order: 'asc' }).nextCursor).toBeNull()
    expect(reading('a', 'b').list({ limit: 1, order: 'asc' }).nextCursor).toBe('a')
    expect(reading().list({ limit: 1, order: 'asc' })).toEqual({ items: [], nextCursor: null })
  })

  it('continues after a cursor whose agent is no longer registered', () => {
    const { list } = reading('a', 'c')

    expect(list({ limit: 9, order: 'asc', cursor: 'b' }).items.map(({ id }) => id)).toEqual(['c'])
    expect(list({ limit: 9, order: 'desc', cursor: 'b' }).items.map(({ id }) => id)).toEqual(['a'])
    expect(list({ limit: 9, order: 'asc', cursor: 'z' })).toEqual({ items: [], nextCursor: null })
  })
})

describe('get', () => {
  it('returns an agent without its code', () => {
    expect(reading('echo').get('echo')).toEqual({
      ...{ id: 'echo', description: 'The echo agent.', concurrency: 'parallel', onBusy: 'reject' },
      ...{ onCrash: 'fail', recoveries: 2, retries: 0, timeoutMs: undefined, tags: [] },
    })
    expect(() => reading('echo').get('other')).toThrow(expect.objectContaining({ code: 'agent-not-found' }))
  })
})

describe('flow control', () => {
  const flow: Partial<AgentRegistration> = {
    concurrency: { limit: 3, key: () => 'a' },
    rateLimit: { limit: 10, period: 1_000, key: 'owner' },
    debounce: { period: 500, key: () => 'a', maxWait: 5_000 },
  }

  it('is shown with the name of each key, or as function', () => {
    const { readAgents } = createTestEngine({ agents: [agentOf('limited', code, flow)] })

    expect(readAgents.get('limited')).toMatchObject({
      concurrency: { limit: 3, key: 'function' },
      rateLimit: { limit: 10, periodMs: 1_000, key: 'owner' },
      debounce: { periodMs: 500, key: 'function', maxWaitMs: 5_000 },
    })
    expect(readAgents.state('limited')).toMatchObject({ concurrency: { limit: 3, key: 'function' } })
  })

  it('is absent when the registration has none', () => {
    const shown = JSON.parse(JSON.stringify(reading('plain').get('plain')))

    expect(shown).toMatchObject({ id: 'plain', concurrency: 'parallel' })
    expect(shown).not.toHaveProperty('rateLimit')
    expect(shown).not.toHaveProperty('debounce')
  })

  it('has no key when all runs share the limit', () => {
    const agents = [agentOf('shared', code, { concurrency: { limit: 2 }, rateLimit: { limit: 1, period: 5 } })]

    const { concurrency, rateLimit } = createTestEngine({ agents }).readAgents.get('shared')

    expect({ concurrency, rateLimit }).toStrictEqual({
      concurrency: { limit: 2 },
      rateLimit: { limit: 1, periodMs: 5 },
    })
  })
})

describe('state', () => {
  it('counts running and queued runs', async () => {
    const open = gate()
    const busy = agentOf('busy', () => open.promise, { concurrency: 'single', onBusy: 'queue' })
    const engine = createTestEngine({ agents: [busy, agentOf('idle', code)] })
    const replies = [1, 2, 3].map(() => engine.run('busy'))
    await engine.advance(0)

    expect(engine.readAgents.state('busy')).toEqual({ id: 'busy', concurrency: 'single', running: 1, queued: 2 })
    expect(engine.readAgents.state('idle')).toMatchObject({ running: 0, queued: 0 })
    open.resolve()
    await Promise.all(replies)
    await engine.advance(0)

    expect(engine.readAgents.state('busy')).toMatchObject({ running: 0, queued: 0 })
    expect(() => engine.readAgents.state('other')).toThrow(expect.objectContaining({ code: 'agent-not-found' }))
  })
})
