import { createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs, NodeDirectory, NodeRecord } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createManageNodes } from './manage-nodes.ts'
import { createNodeWatch } from './node-watch.ts'

const node = (id: string, over: Partial<NodeRecord> = {}): NodeRecord => ({
  ...{ id, name: `host ${id}`, version: '1', settings: { runs: 'a' }, startedAt: 0 as EpochMs, leaseMs: 999.6 },
  ...{ isDraining: false, runs: 2, duties: ['timers'], ...over },
})

function setUp(all: readonly NodeRecord[] = [node('one'), node('two', { settings: { runs: 'b' }, isDraining: true })]) {
  const drained: string[] = []
  const nodes: NodeDirectory = {
    list: async () => all,
    requestDrain: async (id) => drained.push(id) > 0,
    onDrainRequested: () => undefined,
    load: async () => ({ queued: 3, oldestMs: 4_200, withoutCode: 1 }),
    leaseMs: () => 1_500,
  }
  const clock = createManualClock()
  const { unitOfWork, audit } = createInMemoryStorage()
  const common = { unitOfWork, clock, idempotencyTtlMs: 1_000, executor: 'one', nodes }
  return { common, clock, drained, audit, manage: createManageNodes(common) }
}

const PAGE = { limit: 50, order: 'asc' } as const
const principal = { subject: 'operator', scopes: ['admin:*'] } as never

describe('createManageNodes', () => {
  it('lists the servers, and the parts of their configuration that differ from those of the one that answers', async () => {
    const { items } = await setUp().manage.list(PAGE)

    expect(items).toMatchObject([
      { id: 'one', status: 'ready', answered: true, leaseMs: 1_000, runs: 2, duties: ['timers'], differs: [] },
      { id: 'two', status: 'draining', answered: false, differs: ['runs'] },
    ])
  })

  it('lists nothing without a cluster', async () => {
    const { common } = setUp()
    expect(await createManageNodes({ ...common, nodes: undefined }).list(PAGE)).toMatchObject({ items: [] })
  })

  it('drains a server, and records who asked for it', async () => {
    const { manage, drained, audit } = setUp()

    expect(await manage.drain({ nodeId: 'one', principal })).toMatchObject({
      status: 202,
      body: { status: 'draining' },
    })
    expect(drained).toEqual(['one'])
    expect(await audit.read({ afterSeq: 0, limit: 9 })).toMatchObject([
      { action: 'nodes.drain', target: 'one', detail: { name: 'host one' } },
    ])
    await expect(manage.drain({ nodeId: 'three', principal })).rejects.toMatchObject({
      code: 'node-not-found',
      hint: 'pass an id that GET /nodes lists',
    })
    expect(drained).toEqual(['one'])
  })
})

describe('createNodeWatch', () => {
  it('shows the cluster as it was last read', async () => {
    const { common, clock } = setUp()
    const watch = createNodeWatch({
      ...common,
      timers: clock,
      logger: silentLogger,
      isMine: (duty) => duty === 'timers',
    })
    expect([watch.health(), watch.gauges()]).toEqual([undefined, undefined])

    watch.loop.start()
    clock.advance(0)
    await new Promise((resolve) => setImmediate(resolve))
    expect(watch.health()).toEqual({
      ...{ ready: 1, draining: 1, queuedRuns: 3, oldestQueuedSeconds: 4, runsWithoutCode: 1 },
    })
    expect(watch.gauges()).toMatchObject({ leaseMs: 1_500 })
    expect(watch.gauges()?.duties.filter(({ isMine }) => isMine)).toEqual([{ name: 'timers', isMine: true }])
    await watch.loop.stop()
  })
})
