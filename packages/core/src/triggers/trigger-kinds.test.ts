import { createInMemoryStorage } from '@perdure/in-memory'
import { type CronSchedule, type EpochMs, storageBusy } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTriggerServer, iso } from './triggers.fixture.ts'

const MINUTE = 60_000
const QUIET = { id: 'quiet', kind: 'idle', idleMs: 10 * MINUTE, target: { agentId: 'echo' } } as const
const PAID = { id: 'paid', kind: 'event', event: 'order.paid', target: { agentId: 'echo' } } as const

const startServer = (options = {}) => createTriggerServer(options).start()
type Server = Awaited<ReturnType<typeof startServer>>

const times = async (server: Server, id: string) =>
  (await server.fires(id)).map(({ scheduledAt, status }) => `${iso(scheduledAt)?.slice(11, 19)} ${status}`)

/** Starts a run as a client would. */
const startRun = async (server: Server, agentId: string, sessionId?: string) => {
  await server.engine.startRun({
    target: { kind: 'agent', id: agentId },
    ...{ body: { sessionId }, principal: { subject: 'bob', scopes: ['sessions:write:own'] }, answer: 'accepted' },
  })
  await server.untilIdle()
}

describe('an idle trigger', () => {
  it('fires once per quiet period, counted from the end of the last run that a client started', async () => {
    const server = await startServer()
    await server.create(QUIET)
    await server.advance(4 * MINUTE)
    await startRun(server, 'echo')
    await server.advance(30 * MINUTE)
    expect(await times(server, 'quiet')).toEqual(['00:14:00 completed'])

    await startRun(server, 'echo')
    await server.advance(30 * MINUTE)

    expect(await times(server, 'quiet')).toEqual(['00:14:00 completed', '00:44:00 completed'])
  })

  it('waits while a run that a client started is executing', async () => {
    const server = await startServer()
    await server.create(QUIET)
    await startRun(server, 'held')
    await server.advance(60 * MINUTE)
    expect(await times(server, 'quiet')).toEqual([])

    await server.release()
    await server.advance(11 * MINUTE)

    expect(await times(server, 'quiet')).toEqual(['01:10:00 completed'])
  })

  it('fires even if the storage was busy when the quiet period began', async () => {
    const { triggers, ...rest } = createInMemoryStorage()
    let isBusy = false
    const lastActivity: typeof triggers.lastActivity = (...args) => {
      if (!isBusy) return triggers.lastActivity(...args)
      isBusy = false
      return Promise.reject(storageBusy())
    }
    const server = await startServer({ storage: { ...rest, triggers: { ...triggers, lastActivity } } })
    await server.create(QUIET)
    await startRun(server, 'held')
    await server.advance(60 * MINUTE)

    isBusy = true
    await server.release()
    await server.advance(11 * MINUTE)

    expect(isBusy).toBe(false)
    expect(await times(server, 'quiet')).toEqual(['01:10:00 completed'])
  })

  it('considers only the runs of the session that its target names', async () => {
    const server = await startServer()
    await server.create({ ...QUIET, target: { agentId: 'echo', sessionId: 'chat' } })
    await startRun(server, 'echo', 'chat')
    await server.advance(5 * MINUTE)
    await startRun(server, 'echo', 'other')
    await startRun(server, 'held', 'other')

    await server.advance(20 * MINUTE)

    expect(await times(server, 'quiet')).toEqual(['00:10:00 completed'])
  })

  it('fires once for a quiet period that spans a restart', async () => {
    const server = await startServer()
    await server.create(QUIET)
    await startRun(server, 'echo')
    await server.stop()
    server.clock.advance(60 * MINUTE)
    const { storage, clock, ids } = server
    const next = await startServer({ storage, clock, ids })
    await next.advance(60 * MINUTE)
    await next.stop()

    expect(await times(await startServer({ storage, clock, ids }), 'quiet')).toEqual(['00:10:00 completed'])
  })
})

describe('an event trigger', () => {
  it('passes the payload of the event to its run and returns the ids of the fires to the emitter', async () => {
    const server = await startServer()
    await server.create(PAID)
    await server.create({ ...PAID, id: 'fixed', target: { agentId: 'echo', input: 'fixed' } })
    await server.create({ ...PAID, id: 'other', event: 'order.lost' })

    const { body } = await server.engine.emitEvent({ name: 'order.paid', payload: { order: 7 } })
    await server.untilIdle()

    const fires = [...(await server.fires('paid')), ...(await server.fires('fixed'))]
    expect((body as { fireIds: string[] }).fireIds.toSorted()).toEqual(fires.map(({ id }) => id).toSorted())
    expect(fires.every(({ cause, status }) => cause === 'event' && status === 'completed')).toBe(true)
    expect(server.seen.map(({ input }) => input)).toEqual(expect.arrayContaining([{ order: 7 }, 'fixed']))
    expect(await server.fires('other')).toEqual([])
  })

  it('fires once when an event is sent repeatedly with the same key', async () => {
    const server = await startServer()
    await server.create(PAID)
    const emit = () => server.engine.emitEvent({ name: 'order.paid', key: { id: 'k', fingerprint: 'f' } })

    await Promise.all([emit(), emit(), emit()])
    await server.untilIdle()

    expect(await server.fires('paid')).toHaveLength(1)
    expect(await server.runs()).toHaveLength(1)
  })

  it('fires for each of many events at the same instant', async () => {
    const server = await startServer()
    await server.create({ ...PAID, overlap: 'allow' })

    await Promise.all(Array.from({ length: 20 }, (_, n) => server.engine.emitEvent({ name: 'order.paid', payload: n })))
    await server.untilIdle()
    await server.untilIdle()

    expect(server.seen.map(({ input }) => Number(input)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    )
  })

  it('queues the fires of at most a hundred events, in order', async () => {
    const server = await startServer()
    await server.create({ ...PAID, overlap: 'queue', target: { agentId: 'held' } })
    for (let n = 0; n < 103; n++) {
      await server.engine.emitEvent({ name: 'order.paid', payload: n })
      if (n === 0) await server.untilIdle()
    }
    await server.untilIdle()
    expect((await times(server, 'paid')).filter((fire) => fire.endsWith('skipped'))).toHaveLength(2)

    await server.release()
    await server.release()

    expect(server.seen.map(({ input }) => input)).toEqual([0, 1, 2])
  })

  it('does not fire while disabled or expired, or for an event that is addressed to one run', async () => {
    const server = await startServer()
    await server.create({ ...PAID, id: 'off', enabled: false })
    await server.create({ ...PAID, id: 'old', expiresAt: '2025-01-01T00:01:00.000Z' })
    await server.create({ ...PAID, id: 'on' })
    await server.advance(MINUTE)

    const all = await server.engine.emitEvent({ name: 'order.paid' })
    const one = await server.engine.emitEvent({ name: 'order.paid', runId: 'run_x' })

    expect((all.body as { fireIds: string[] }).fireIds).toHaveLength(1)
    expect((one.body as { fireIds: string[] }).fireIds).toEqual([])
    expect([await server.fires('off'), await server.fires('old')]).toEqual([[], []])
  })
})

describe('the trigger daemon with a cron library that throws', () => {
  /** Works until the given time, then throws for the rule `bad`. */
  const fragile = (clock: { now(): number }, from: number): CronSchedule => ({
    ready: async () => undefined,
    problemOf: () => undefined,
    next({ cron }, after) {
      if (cron === 'bad' && clock.now() >= from) throw new Error('tzdata is broken')
      return (Math.floor(after / MINUTE) * MINUTE + MINUTE) as EpochMs
    },
  })

  it('marks only the affected trigger as failing, until a restart with a working library', async () => {
    const clock = createManualClock()
    const cronSchedule = fragile(clock, clock.now() + 2 * MINUTE)
    const server = await startServer({ clock, cronSchedule })
    await server.create({ id: 'bad', kind: 'cron', cron: 'bad', target: { agentId: 'echo' } })
    await server.create({ id: 'good', kind: 'cron', cron: 'good', target: { agentId: 'echo' } })

    await server.advance(4 * MINUTE + 1)

    expect(await server.trigger('bad')).toMatchObject({
      status: 'failing',
      reason: 'tzdata is broken',
      nextFireAt: null,
    })
    expect((await server.events('bad')).at(-1)).toBe('trigger.failed')
    expect(await server.fires('good')).toHaveLength(4)
    expect(server.triggers.daemon.health()).toMatchObject({ state: 'running', active: 2 })

    await server.stop()
    const { storage, ids } = server
    const healed = await startServer({ storage, ids, clock, cronSchedule: fragile(clock, Number.POSITIVE_INFINITY) })
    expect(await healed.trigger('bad')).toMatchObject({ status: 'active', nextFireAt: expect.any(String) })
  })
})
