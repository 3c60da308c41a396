import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, plusMs, type Write } from '@perdure/ports'
import { aMessage, anEvent, aRun, aSession, aToken, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger, untilIdle } from '../engine/test-engine.fixture.ts'
import { createRetention, type RetentionLimits } from './retention.ts'

const DAY_MS = 86_400_000

function setUp(limits: RetentionLimits) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const daemon = createRetention({
    ...{ ...storage, clock, timers: clock, logger: silentLogger, limits, hooksDays: 30, undeclaredMs: 3_600_000 },
  })
  return {
    ...{ storage, clock, daemon },
    async advance(ms: number) {
      clock.advance(ms)
      for (let turn = 0; turn < 10; turn++) await untilIdle(clock)
    },
    events: () => storage.events.count({ topic: 'all' }, { after: 0, through: 1e9 }),
    sessions: async () => {
      const { items } = await storage.sessions.list({}, { limit: 1_000, order: 'asc' }, EVERY_ROW)
      return items.map(({ id }) => id).toSorted()
    },
  }
}

describe('createRetention', () => {
  it('removes old events in bounded commits until none is left', async () => {
    const { storage, clock, daemon, advance, events } = setUp({ eventsDays: 30, tokensDays: 30 })
    const old = Array.from({ length: 1_200 }, () => anEvent({ topic: 'all', at: clock.now() }))
    await storage.unitOfWork.commit([{ type: 'event.append', events: old }])
    clock.advance(30 * DAY_MS)
    daemon.start()

    await advance(0)
    expect(await events()).toBe(1_200)
    for (let minute = 0; minute < 22; minute++) await advance(30_000)

    expect(await events()).toBe(0)
    expect((await storage.events.head()).trimmedThrough).toBe(1_200)
    await daemon.stop()
  })

  it('keeps runs forever unless runsDays is set', async () => {
    for (const [limits, isKept] of [
      [{ eventsDays: 1, tokensDays: 1 }, true],
      [{ eventsDays: 1, tokensDays: 1, runsDays: 1 }, false],
    ] as const) {
      const { storage, clock, daemon, advance } = setUp(limits)
      const ended = { status: 'completed', createdAt: clock.now(), completedAt: plusMs(clock.now(), 1) } as const
      await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun(ended) }])
      clock.advance(2 * DAY_MS)
      daemon.start()
      await advance(0)

      expect((await storage.runs.find(aRun().id, EVERY_ROW)) !== undefined).toBe(isKept)
      await daemon.stop()
    }
  })
})

describe('createRetention for tokens', () => {
  it('removes expired sessions of the console, and keeps the token that signed in', async () => {
    const { storage, clock, daemon, advance } = setUp({ eventsDays: 30, tokensDays: 30 })
    const session = { name: 'console', parentId: 'operator', expiresAt: plusMs(clock.now(), DAY_MS / 2) }
    const tokens = [aToken({ id: 'operator' }), aToken({ id: 'signed-in', createdAt: clock.now(), ...session })]
    await storage.unitOfWork.commit(tokens.map((token) => ({ type: 'token.insert', token })))
    clock.advance(30 * DAY_MS)
    daemon.start()
    await advance(0)
    expect(await storage.tokens.find('signed-in')).toBeDefined()

    for (let hour = 0; hour < 24; hour++) await advance(DAY_MS / 24)

    expect(await storage.tokens.find('signed-in')).toBeUndefined()
    expect(await storage.tokens.find('operator')).toBeDefined()
    await daemon.stop()
  })
})

describe('createRetention for sessions', () => {
  const limits = { eventsDays: 1_000, tokensDays: 1_000, sessionsDays: 7 }

  /** Inserts sessions with one message and one run each. Sessions whose index is in `waiting` have a suspended run. */
  async function fill({ storage, clock }: ReturnType<typeof setUp>, count: number, waiting: readonly number[] = []) {
    const at = clock.now()
    const writes = Array.from({ length: count }, (_, n): readonly Write[] => {
      const id = `ses-${String(n).padStart(3, '0')}`
      const run = aRun({ id: `run-${n}`, status: waiting.includes(n) ? 'suspended' : 'completed', sessionId: id })
      return [
        { type: 'session.insert', session: aSession({ id, createdAt: at, updatedAt: at }) },
        { type: 'message.append', message: aMessage({ id: `msg-${n}`, sessionId: id, createdAt: at }) },
        { type: 'run.insert', run },
      ]
    })
    await storage.unitOfWork.commit(writes.flat())
  }

  it('keeps sessions forever unless sessionsDays is set', async () => {
    const setup = setUp({ eventsDays: 1, tokensDays: 1 })
    await fill(setup, 1)
    setup.clock.advance(1_000 * DAY_MS)
    setup.daemon.start()
    await setup.advance(0)

    expect(await setup.sessions()).toEqual(['ses-000'])
    await setup.daemon.stop()
  })

  it('removes idle sessions, each with an event and an audit entry that names the actor retention', async () => {
    const setup = setUp(limits)
    const { storage, clock, daemon, advance, sessions } = setup
    await fill(setup, 3)
    clock.advance(4 * DAY_MS)
    await storage.unitOfWork.commit([{ type: 'session.touch', id: 'ses-001', at: clock.now() }])
    clock.advance(3 * DAY_MS)
    daemon.start()
    await advance(0)

    expect(await sessions()).toEqual(['ses-001'])
    expect((await storage.sessions.messages('ses-000', { limit: 10, order: 'asc' })).items).toEqual([])
    expect(await storage.runs.find('run-0', EVERY_ROW)).toBeUndefined()
    const [event, ...others] = await storage.events.read({ sessionId: 'ses-000' }, { after: 0, limit: 10 })
    expect([event?.type, event?.payload, others]).toEqual(['session.deleted', '{"id":"ses-000","owner":"alice"}', []])
    expect(await storage.audit.read({ afterSeq: 0, limit: 10 })).toMatchObject(
      ['ses-000', 'ses-002'].map((target) => ({
        ...{ action: 'sessions.delete', target, decision: 'allowed', actor: { kind: 'system', subject: 'retention' } },
      })),
    )
    await daemon.stop()
  })

  it('keeps any number of sessions with suspended runs, and removes each session after its run ends', async () => {
    const setup = setUp(limits)
    const { storage, clock, daemon, advance, sessions } = setup
    const waiting = Array.from({ length: 60 }, (_, n) => n)
    await fill(setup, 130, waiting)
    clock.advance(8 * DAY_MS)
    daemon.start()
    for (let turn = 0; turn < 5; turn++) await advance(0)
    expect(await sessions()).toEqual(waiting.map((n) => `ses-${String(n).padStart(3, '0')}`))

    const change = { status: 'aborted', finishReason: 'aborted', completedAt: clock.now() } as const
    await storage.unitOfWork.commit([
      { type: 'run.transition', runId: 'run-7', from: ['suspended'], attempt: 1, change },
    ])
    for (let turn = 0; turn < 22; turn++) await advance(30_000)
    expect(await sessions()).not.toContain('ses-007')
    expect(await sessions()).toHaveLength(59)
    await daemon.stop()
  })
})
