import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { TriggerRegistration } from './trigger-definition.ts'
import { createTriggerServer, iso, ms, type ServerOptions } from './triggers.fixture.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const HOURLY = { id: 'hourly', kind: 'cron', cron: '0 * * * *' } as const

/** A started server at 2025-01-01T00:00Z with one trigger. */
async function startServer(trigger: object, options: ServerOptions = {}) {
  const server = await createTriggerServer(options).start()
  const registration = { ...HOURLY, target: { agentId: 'echo' }, ...trigger } as TriggerRegistration
  await server.create(registration)
  return server
}

type Server = Awaited<ReturnType<typeof startServer>>

const firesOf = async (server: Server, id = 'hourly') =>
  (await server.fires(id)).map(({ status, scheduledAt }) => `${iso(scheduledAt)?.slice(11, 19)} ${status}`)

describe('createTriggerDaemon', () => {
  it('fires a cron trigger once at each occurrence and appends an event', async () => {
    const server = await startServer({ target: { agentId: 'echo', input: { of: 'hour' } } })

    await server.advance(2 * HOUR + MINUTE)

    expect(await firesOf(server)).toEqual(['01:00:00 completed', '02:00:00 completed'])
    expect(server.seen.map(({ input }) => input)).toEqual([{ of: 'hour' }, { of: 'hour' }])
    expect(await server.events('hourly')).toEqual(['trigger.fired', 'trigger.fired'])
    const [first] = await server.runs()
    const [fire] = await server.fires('hourly')
    expect(first).toMatchObject({
      triggerId: 'hourly',
      owner: 'alice',
      metadata: { fireId: fire?.id, scheduledAt: '2025-01-01T01:00:00.000Z' },
    })
    expect(await server.trigger('hourly')).toMatchObject({
      lastFireAt: '2025-01-01T02:00:00.000Z',
      nextFireAt: '2025-01-01T03:00:00.000Z',
      lastStatus: 'completed',
      fireCount: 2,
      missed: 0,
    })
  })

  it('fires an interval trigger at each multiple of the interval after the creation of the trigger', async () => {
    const server = createTriggerServer()
    await server.start()
    await server.advance(17_000)
    await server.create({ id: 'beat', kind: 'interval', intervalMs: 90_000, target: { agentId: 'echo' } })

    await server.advance(200_000)

    expect(await firesOf(server, 'beat')).toEqual(['00:01:47 completed', '00:03:17 completed'])
  })

  it('records the failure of the run on its fire, with the reason', async () => {
    const server = await startServer({ target: { agentId: 'fails' } })

    await server.advance(HOUR + MINUTE)

    const [fire] = await server.fires('hourly')
    expect(fire).toMatchObject({ status: 'failed', reason: 'bad-luck: no luck' })
    expect(await server.events('hourly')).toEqual(['trigger.fired', 'trigger.failed'])
    expect((await server.trigger('hourly')).lastStatus).toBe('failed')
    const series = (status: string) =>
      server.meter.values.get(`svc_trigger_fires_total{kind="cron",status="${status}"}`)
    expect([series('started'), series('failed'), series('completed')]).toEqual([1, 1, undefined])
  })

  it.each([
    ['skip', ['01:00:00 started', '02:00:00 skipped', '03:00:00 skipped'], 1],
    ['queue', ['01:00:00 started', '02:00:00 pending', '03:00:00 pending'], 1],
    ['allow', ['01:00:00 started', '02:00:00 started', '03:00:00 started'], 3],
  ] as const)('applies the overlap policy %s while a run has not ended', async (overlap, expected, runs) => {
    const server = await startServer({ overlap, target: { agentId: 'held' } })

    await server.advance(3 * HOUR + MINUTE)

    expect(await firesOf(server)).toEqual(expected)
    expect(await server.runs()).toHaveLength(runs)
  })

  it('starts each queued fire when the run of the previous fire has ended', async () => {
    const server = await startServer({ overlap: 'queue', target: { agentId: 'held' } })
    await server.advance(3 * HOUR + MINUTE)

    await server.release()
    expect(await firesOf(server)).toEqual(['01:00:00 completed', '02:00:00 started', '03:00:00 pending'])
    await server.release()
    await server.release()

    expect(await firesOf(server)).toEqual(['01:00:00 completed', '02:00:00 completed', '03:00:00 completed'])
    expect(server.seen.map(({ metadata }) => metadata.scheduledAt?.slice(11, 13))).toEqual(['01', '02', '03'])
  })

  it.each([
    ['none', ['01:00:00 missed', '02:00:00 missed', '03:00:00 missed'], 3],
    ['latest', ['01:00:00 missed', '02:00:00 missed', '03:00:00 completed'], 2],
    ['all', ['01:00:00 completed', '02:00:00 completed', '03:00:00 completed'], 0],
  ] as const)('applies the catch-up policy %s after a downtime', async (catchUp, expected, missed) => {
    const { storage, clock, ids, stop } = await startServer({ catchUp, overlap: 'allow' })
    await stop()
    clock.advance(3 * HOUR + 10 * MINUTE)

    const next = await createTriggerServer({ storage, clock, ids }).start()

    expect(await firesOf(next)).toEqual(expected)
    expect((await next.trigger('hourly')).missed).toBe(missed)
    await next.advance(HOUR)
    expect((await firesOf(next)).at(-1)).toBe('04:00:00 completed')
  })

  it('fires an occurrence that is at most a minute late under the catch-up policy none', async () => {
    for (const [lateMs, expected] of [
      [MINUTE, ['01:00:00 completed']],
      [MINUTE + 1, ['01:00:00 missed']],
    ] as const) {
      const { storage, clock, ids, stop } = await startServer({ catchUp: 'none' })
      await stop()
      clock.advance(HOUR + lateMs)

      expect(await firesOf(await createTriggerServer({ storage, clock, ids }).start())).toEqual(expected)
    }
  })

  it.each(['none', 'latest', 'all'] as const)(
    'fires an occurrence no later than a catch-up window under a minute allows, under the catch-up policy %s',
    async (catchUp) => {
      for (const [lateMs, expected] of [
        [2_000, ['01:00:00 completed']],
        [2_001, ['01:00:00 missed']],
        [4_000, ['01:00:00 missed']],
      ] as const) {
        const { storage, clock, ids, stop } = await startServer({ catchUp, catchUpWindowMs: 2_000 })
        await stop()
        clock.advance(HOUR + lateMs)

        expect(await firesOf(await createTriggerServer({ storage, clock, ids }).start()), `${lateMs}`).toEqual(expected)
      }
    },
  )

  it('catches up on at most maxCatchUp of the newest occurrences, all within the catch-up window', async () => {
    const { storage, clock, ids, stop } = await startServer({
      ...{ catchUp: 'all', maxCatchUp: 3, overlap: 'allow' },
      catchUpWindowMs: 90 * MINUTE,
    })
    await stop()
    clock.advance(5 * HOUR)

    const next = await createTriggerServer({ storage, clock, ids }).start()

    expect(await firesOf(next)).toEqual([
      '01:00:00 missed',
      '02:00:00 missed',
      '03:00:00 missed',
      '04:00:00 completed',
      '05:00:00 completed',
    ])
  })

  it('delays no trigger by the backlog of another', async () => {
    const first = createTriggerServer({ maxQueued: 1_000 })
    await first.start()
    const rule = { kind: 'interval', overlap: 'allow', catchUp: 'all', target: { agentId: 'echo' } } as const
    await first.create({ id: 'backlog', ...rule, intervalMs: MINUTE, maxCatchUp: 150 })
    await first.create({ id: 'beat', ...rule, intervalMs: 50 * MINUTE, maxCatchUp: 3 })
    await first.stop()
    first.clock.advance(150 * MINUTE)

    const { storage, clock, ids } = first
    const next = await createTriggerServer({ storage, clock, ids, maxQueued: 1_000 }).start()
    await next.untilIdle()

    const order = (await next.storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items
    const beats = order.flatMap(({ triggerId }, index) => (triggerId === 'beat' ? [index] : []))
    expect(beats).toHaveLength(3)
    expect(order.length).toBeGreaterThanOrEqual(150)
    expect(Math.max(...beats)).toBeLessThan(10)
  })

  it('starts the pending fires of a trigger while another one catches up', async () => {
    const isLive = async () => {
      for (let turn = 0; turn < 1_000; turn++) await undefined
    }
    const agents = ['echo', 'slow'].map((id) => ({
      ...{ id, description: '' },
      agent: { id, run: id === 'slow' ? isLive : async () => undefined },
    }))
    const first = createTriggerServer({ agents })
    await first.start()
    const rule = { kind: 'interval', catchUp: 'all' } as const
    const often = { ...rule, intervalMs: MINUTE, maxCatchUp: 150, target: { agentId: 'echo' } } as const
    await first.create({ id: 'backlog', ...often, overlap: 'allow' })
    const seldom = { ...rule, intervalMs: 50 * MINUTE, maxCatchUp: 3, target: { agentId: 'slow' } } as const
    await first.create({ id: 'beat', ...seldom, overlap: 'queue' })
    await first.stop()
    first.clock.advance(150 * MINUTE)

    const { storage, clock, ids } = first
    const next = await createTriggerServer({ storage, clock, ids, agents, maxQueued: 1_000 }).start()
    await next.untilIdle()

    const order = (await next.storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items
    const beats = order.flatMap(({ triggerId }, index) => (triggerId === 'beat' ? [index] : []))
    expect(beats).toHaveLength(3)
    expect(beats[1]).toBeGreaterThan(5)
    expect(Math.max(...beats)).toBeLessThan(140)
  })

  it('tries a trigger that cannot be processed once per pass, and serves the others', async () => {
    const failures: unknown[] = []
    const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined }
    const error = (message: string, _: unknown, fields?: unknown) => void failures.push([message, fields])
    const server = createTriggerServer({ logger: { ...logger, error } })
    await server.start()
    await server.create({ ...HOURLY, id: 'broken', target: { agentId: 'echo' } })
    await server.create({ ...HOURLY, target: { agentId: 'echo' } })
    const { find } = server.storage.triggers
    let finds = 0
    const failing = async (id: string) => {
      if (id === 'broken') throw new Error(`cannot read, ${++finds}`)
      return find(id)
    }
    Object.assign(server.storage.triggers, { find: failing })

    await server.advance(HOUR + 1)

    expect(await firesOf(server)).toEqual(['01:00:00 completed'])
    expect(finds).toBeLessThan(20)
    expect(failures).toContainEqual(['cannot process trigger', { triggerId: 'broken' }])
  })

  it('counts every missed occurrence of a long downtime and keeps the newest hundred in the history', async () => {
    const server = createTriggerServer()
    await server.start()
    await server.create({ id: 'beat', kind: 'interval', intervalMs: 1_000, target: { agentId: 'echo' } })
    await server.stop()
    server.clock.advance(2 * HOUR)

    const { storage, clock, ids } = server
    const next = await createTriggerServer({ storage, clock, ids }).start()
    await next.advance(1)

    expect(await next.trigger('beat')).toMatchObject({ missed: 7_199, fireCount: 1 })
    const fires = await next.fires('beat')
    const missed = fires.filter(({ status }) => status === 'missed')
    expect(missed.slice(-100).map(({ scheduledAt }) => scheduledAt)).toEqual(
      Array.from({ length: 100 }, (_, n) => ms('2025-01-01T01:58:20Z') + n * 1_000),
    )
    expect(fires.at(-1)).toMatchObject({ status: 'completed', scheduledAt: ms('2025-01-01T02:00:00Z') })
  })

  it('repeats no decided occurrence after the wall clock is set back', async () => {
    const server = await startServer({})
    await server.advance(2 * HOUR + MINUTE)

    server.clock.setWall(ms('2025-01-01T00:30:00Z'))
    await server.advance(2 * HOUR + 31 * MINUTE)

    expect(await firesOf(server)).toEqual(['01:00:00 completed', '02:00:00 completed', '03:00:00 completed'])
  })

  it('detects within half a minute that the wall clock was moved forward', async () => {
    const server = await startServer({})
    await server.untilIdle()

    server.clock.setWall(ms('2025-01-01T03:20:00Z'))
    server.clock.advance(30_000)
    await server.untilIdle()

    expect(await firesOf(server)).toEqual(['01:00:00 missed', '02:00:00 missed', '03:00:00 completed'])
  })

  it('schedules an earlier occurrence if the wall clock is set back before any occurrence is decided', async () => {
    const server = await startServer({})
    server.clock.setWall(ms('2024-12-30T22:30:00Z'))
    server.clock.advance(30_000)
    await server.untilIdle()

    expect((await server.trigger('hourly')).nextFireAt).toBe('2024-12-30T23:00:00.000Z')
  })

  it('delays an occurrence by the same jitter every time', async () => {
    const server = await startServer({ jitterMs: 10 * MINUTE })
    const { nextFireAt } = await server.trigger('hourly')
    const delay = ms(String(nextFireAt)) - ms('2025-01-01T01:00:00Z')
    expect(delay).toBeGreaterThan(0)
    expect(delay).toBeLessThanOrEqual(10 * MINUTE)

    await server.advance(HOUR + delay - 1)
    expect(await firesOf(server)).toEqual([])
    await server.advance(1)
    expect(await firesOf(server)).toEqual(['01:00:00 completed'])

    const again = await startServer({ jitterMs: 10 * MINUTE })
    expect((await again.trigger('hourly')).nextFireAt).toBe(nextFireAt)
  })

  it('fires nothing after the expiry, not even occurrences that were due before the expiry', async () => {
    const server = await startServer({ expiresAt: '2025-01-01T02:00:00.000Z' })
    await server.advance(4 * HOUR)
    expect(await firesOf(server)).toEqual(['01:00:00 completed'])
    expect(await server.trigger('hourly')).toMatchObject({ status: 'expired', nextFireAt: null })

    const { storage, clock, ids, stop } = await startServer({ expiresAt: '2025-01-01T02:30:00.000Z' })
    await stop()
    clock.advance(3 * HOUR)
    expect(await firesOf(await createTriggerServer({ storage, clock, ids }).start())).toEqual([
      '01:00:00 missed',
      '02:00:00 missed',
    ])
  })

  it('skips a fire whose target is busy and fails a fire whose target is missing', async () => {
    const server = await startServer({ overlap: 'allow', target: { agentId: 'single' } })
    await server.advance(2 * HOUR + MINUTE)
    const fires = await server.fires('hourly')
    expect(fires.map(({ status }) => status)).toEqual(['started', 'skipped'])
    expect(fires[1]?.reason).toMatch(/^agent-busy: /)

    const { storage, clock, ids } = server
    await server.stop()
    clock.advance(HOUR)
    const without = await createTriggerServer({ storage, clock, ids, agents: [] }).start()
    expect((await without.fires('hourly')).at(-1)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/^agent-not-found: /),
    })
    expect((await without.events('hourly')).at(-1)).toBe('trigger.failed')
  })

  it('retries an occurrence until the queue has a free slot', async () => {
    const server = await startServer({ target: { agentId: 'echo' } }, { concurrency: 1, maxQueued: 0 })
    await server.engine.startRun({
      target: { kind: 'agent', id: 'held' },
      ...{ body: {}, principal: { subject: 'bob', scopes: [] }, answer: 'accepted' },
    })
    await server.advance(HOUR + 5_000)
    expect(await firesOf(server)).toEqual([])

    await server.release()
    await server.advance(1_000)

    expect(await firesOf(server)).toEqual(['01:00:00 completed'])
  })

  it('deletes ended fires after thirty days', async () => {
    const server = await startServer({ cron: '0 0 1 * *', id: 'monthly' })
    await server.advance(31 * 24 * HOUR + HOUR)
    expect(await server.fires('monthly')).toHaveLength(1)

    await server.advance(29 * 24 * HOUR)
    const before = await server.fires('monthly')
    await server.advance(2 * 24 * HOUR)

    expect(before.map(({ scheduledAt }) => iso(scheduledAt)?.slice(0, 10))).toEqual(['2025-02-01', '2025-03-01'])
    expect((await server.fires('monthly')).map(({ scheduledAt }) => iso(scheduledAt)?.slice(0, 10))).toEqual([
      '2025-03-01',
    ])
  })
})
