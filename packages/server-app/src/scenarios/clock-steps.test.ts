import { CONFIRM_STEP_MS } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type EpochMs, EVERY_ROW, type Logger, type Storage, toJsonText, type WebhookSender } from '@perdure/ports'
import {
  aDelivery,
  anApproval,
  anEvent,
  anIdempotencyRecord,
  aRun,
  aSession,
  aStep,
  aToken,
  createManualClock,
  type ManualClock,
} from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'

process.env.CLOCK_HOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const [SECOND, HOUR, DAY] = [1_000, 3_600_000, 86_400_000]
const STEPS = [SECOND, -SECOND, 25 * HOUR, -25 * HOUR, 3_650 * DAY, -3_650 * DAY]
const TICK_MS = 500
const ROUNDS = Number(process.env.CLOCK_STEPS ?? 12)

const waits = {
  id: 'waits',
  description: 'Sleeps for two hours, and asks for an approval.',
  agent: { id: 'waits', run: async () => 'ran' },
}

/** What a wrong clock could end, start, expire or delete. Everything is due in one to two hours, or kept for another day. */
async function insertRows({ unitOfWork }: Storage, now: number) {
  const at = (ms: number) => (now + ms) as EpochMs
  const old = at(-29 * DAY)
  const base = { targetId: 'waits', createdAt: at(0) } as const
  const ended = { ...base, status: 'completed', createdAt: old, completedAt: old } as const
  await unitOfWork.commit([
    { type: 'run.insert', run: aRun({ ...base, id: 'delayed', startAt: at(HOUR) }) },
    { type: 'run.insert', run: aRun({ ...base, id: 'asleep', status: 'suspended', deadlineAt: at(2 * HOUR) }) },
    { type: 'run.insert', run: aRun({ ...ended, id: 'ended' }) },
    {
      type: 'step.insert',
      step: aStep({ runId: 'asleep', seq: 0, kind: 'sleep', status: 'waiting', dueAt: at(HOUR), startedAt: at(0) }),
    },
    { type: 'approval.insert', approval: anApproval({ runId: 'asleep', expiresAt: at(HOUR), createdAt: at(0) }) },
    {
      type: 'idempotency.reserve',
      record: anIdempotencyRecord({
        createdAt: at(0),
        expiresAt: at(DAY),
        response: { status: 200, body: toJsonText('kept') },
      }),
      now: at(0),
    },
    { type: 'event.append', events: [anEvent({ topic: 'old', at: old })] },
    { type: 'session.insert', session: aSession({ createdAt: old, updatedAt: old }) },
    { type: 'token.insert', token: aToken({ createdAt: old, expiresAt: old }) },
    {
      type: 'delivery.insert',
      delivery: aDelivery({ id: 'sent', webhookId: 'sink', status: 'delivered', createdAt: old, endedAt: old }),
    },
    {
      type: 'delivery.insert',
      delivery: aDelivery({
        id: 'retried',
        webhookId: 'gone',
        position: 1,
        attempts: 1,
        dueAt: at(HOUR),
        createdAt: at(0),
      }),
    },
  ])
}

async function shown(storage: Storage, now: EpochMs) {
  const page = { limit: 100, order: 'asc' } as const
  const { runs, steps, approvals, idempotency, events, sessions, tokens, webhooks, deliveries, triggers } = storage
  const sent = async (webhookId: string) =>
    (await deliveries.list({ webhookId }, page)).items.map(({ id, status, attempts }) => `${id} ${status} ${attempts}`)
  return {
    runs: (await runs.list({}, page, EVERY_ROW)).items.map(({ id, status }) => `${id} ${status}`),
    waits: (await steps.list('asleep')).map(({ status }) => status),
    approval: (await approvals.find(anApproval().id, EVERY_ROW))?.status,
    key: (await idempotency.find('a'.repeat(64), now))?.response?.status,
    events: await events.count({ topic: 'old' }, { after: 0, through: 10_000 }),
    sessions: (await sessions.list({}, page, EVERY_ROW)).items.map(({ id }) => id),
    token: (await tokens.find(aToken().id))?.id,
    webhooks: (await webhooks.list()).map(({ id }) => id),
    deliveries: [await sent('sink'), await sent('gone')],
    triggers: (await triggers.list(page)).items.map(({ id, orphanedAt, fireCount }) => [id, orphanedAt, fireCount]),
  }
}

/** Lets the daemons work for a time on the monotonic clock. */
async function pass(clock: ManualClock, ms: number) {
  for (let passed = 0; passed < ms; passed += TICK_MS) {
    clock.advance(TICK_MS)
    for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

async function startWorld() {
  const storage = createInMemoryStorage()
  const clock = createManualClock(Date.parse('2026-03-01T00:10:00Z'))
  const webhookSender: WebhookSender = { refusalOf: () => undefined, send: async () => ({ status: 204 }) }
  const adapters = { storage, logger, clock, timers: clock, webhookSender }
  const config = {
    auth: { kind: 'none' },
    retention: { eventsDays: 30, runsDays: 30, sessionsDays: 30, tokensDays: 30 },
    webhooks: { retentionDays: 30 },
  } as const
  const webhook = (id: string) => ({ id, url: 'https://hooks.example/in', secretRef: 'env:CLOCK_HOOK_SECRET' })
  const declared = {
    agents: [waits],
    triggers: [{ id: 'hourly', kind: 'cron', cron: '0 2 * * *', target: { agentId: 'waits' } }],
  } as const
  const before = await createServer({
    ...declared,
    config,
    adapters,
    webhookEndpoints: [webhook('sink'), webhook('gone')],
  })
  await before.start({ listen: false })
  await before.stop({ force: true })
  await insertRows(storage, clock.now())
  // The grace period of the webhook `gone` begins, and that of the trigger.
  const server = await createServer({ agents: [waits], config, adapters, webhookEndpoints: [webhook('sink')] })
  await server.start({ listen: false })
  await pass(clock, 2 * SECOND)
  return { storage, clock, server }
}

/** Numbers from 0 to 1, always the same. */
function createRandom(seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('all daemons of a server', () => {
  it.each([1, 2, 3])(
    'end, start, expire and delete nothing while the clock is wrong for less than a minute (seed %d)',
    async (seed) => {
      const { storage, clock, server } = await startWorld()
      const random = createRandom(seed)
      const startedAt = clock.now()
      const right = () => (startedAt + clock.monotonicMs() - startedMs) as EpochMs
      const startedMs = clock.monotonicMs()
      const before = await shown(storage, right())
      for (let round = 0; round < ROUNDS; round++) {
        const ms = STEPS[Math.floor(random() * STEPS.length)] ?? 0
        clock.setWall(right() + ms)
        await pass(clock, Math.floor(random() * (CONFIRM_STEP_MS - 5 * SECOND)))
        expect(await shown(storage, right()), `a step of ${ms} ms in round ${round}`).toEqual(before)
        clock.setWall(right())
        await pass(clock, Math.floor(random() * 3 * SECOND))
      }
      expect(await shown(storage, right())).toEqual(before)
      await server.stop({ force: true })
    },
  )

  it('follow a clock that stays changed for a minute, and do what is due', async () => {
    const { storage, clock, server } = await startWorld()
    const before = await shown(storage, clock.now())
    clock.setWall(clock.now() + 25 * HOUR)
    await pass(clock, CONFIRM_STEP_MS + 5 * 60 * SECOND)
    const after = await shown(storage, clock.now())

    expect(after).not.toMatchObject({ runs: before.runs })
    expect(after.webhooks).toEqual(['sink'])
    expect(after.approval).toBe('expired')
    await server.stop({ force: true })
  })
})
