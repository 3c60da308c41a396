import { createHash } from 'node:crypto'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type EpochMs, EVERY_ROW, isRefusal, toJsonText } from '@perdure/ports'
import { anEvent, aRun, aTrigger } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { matchesSignature } from './standard-webhooks.fixture.ts'
import {
  ALICE,
  BY_ALICE,
  createReceiver,
  createWebhookWorld,
  DAY_MS,
  eventIdsOf,
  runsOf,
  typesOf,
  URL,
} from './webhooks.fixture.ts'

const PAGE = { limit: 200, order: 'asc' } as const
const idOf = (thrown: unknown) => (isRefusal(thrown) ? thrown.code : thrown)
const create = async (world: ReturnType<typeof createWebhookWorld>, webhook: object = {}) =>
  (await world.manageWebhooks.create({ ...BY_ALICE, webhook: { id: 'hook', url: URL, ...webhook } })).body as {
    readonly id: string
    readonly secret: string
  }
const statuses = async ({ storage }: ReturnType<typeof createWebhookWorld>) =>
  (await storage.deliveries.list({ webhookId: 'hook' }, PAGE)).items.map(({ status, attempts }) => [status, attempts])

describe('webhooks', () => {
  it('delivers the selected events of a run in order, each under the id of its event', async () => {
    const world = createWebhookWorld()
    await create(world)
    world.daemon.start()
    await world.run('run_1')
    await world.settle()

    expect(typesOf(world.receiver)).toEqual(['run.started', 'run.completed'])
    const ids = [/^evt_1_[0-9a-f]{16}$/, /^evt_3_[0-9a-f]{16}$/].map((id) => expect.stringMatching(id))
    expect(eventIdsOf(world.receiver)).toEqual(ids)
    const [, completed] = world.receiver.requests
    expect(completed?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'perdure/1.2.3' })
    expect(JSON.parse(completed?.body ?? '')).toEqual({
      type: 'run.completed',
      timestamp: new Date(world.clock.now()).toISOString(),
      data: { runId: 'run_1', agentId: 'echo', status: 'completed', result: 'done' },
      links: { run: '/v1/runs/run_1' },
    })
    expect(await statuses(world)).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ])
    await world.daemon.stop()
  })

  it('sends a delivery again under the same id on a restored copy of the database', async () => {
    const original = createWebhookWorld()
    await create(original)
    original.receiver.answer = () => ({ status: 500 })
    original.daemon.start()
    await original.run('run_1')
    await original.settle()
    await original.daemon.stop()
    const { storage, clock, receiver } = original
    const sent = eventIdsOf(receiver)

    const { events } = storage
    const copied = { ...events, head: async () => ({ ...(await events.head()), epoch: 'another' }) }
    const copy = createWebhookWorld({ storage: { ...storage, events: copied }, clock, receiver })
    copy.daemon.start()
    clock.advance(60_000)
    await copy.settle()
    await copy.daemon.stop()

    expect(sent).toHaveLength(2)
    expect(eventIdsOf(receiver).slice(2).toSorted()).toEqual(sent.toSorted())
  })

  it('gives an event that happens again another id, also under the position of the first', async () => {
    const ids: string[] = []
    for (const elapsedMs of [0, 1]) {
      const world = createWebhookWorld()
      world.clock.advance(elapsedMs)
      await create(world)
      world.daemon.start()
      await world.run('run_1')
      await world.settle()
      await world.daemon.stop()
      ids.push(...eventIdsOf(world.receiver))
    }

    expect(new Set(ids).size).toBe(4)
  })

  it('signs with the secret that the answer to the creation contains', async () => {
    const world = createWebhookWorld()
    const { secret } = await create(world)
    world.daemon.start()
    await world.run('run_1')
    await world.settle()

    const [request] = world.receiver.requests
    expect(matchesSignature(secret, request)).toBe(true)
    expect(matchesSignature(secret, request && { ...request, body: `${request.body} ` })).toBe(false)
    expect(JSON.stringify(await world.storage.webhooks.list())).not.toContain(secret.slice('whsec_'.length))
    await world.daemon.stop()
  })

  it('signs with both secrets until the grace period of a rotation is over', async () => {
    const world = createWebhookWorld()
    const { secret: before } = await create(world)
    const rotated = await world.manageWebhooks.rotate({ ...BY_ALICE, webhookId: 'hook', graceSeconds: 60 })
    const { secret: after } = rotated.body as { readonly secret: string }
    world.daemon.start()
    await world.run('run_1')
    await world.settle()
    await world.settle(60_001)
    await world.run('run_2')
    await world.settle()

    const [first, , third] = world.receiver.requests
    expect([before, after].map((secret) => matchesSignature(secret, first))).toEqual([true, true])
    expect([before, after].map((secret) => matchesSignature(secret, third))).toEqual([false, true])
    await world.daemon.stop()
  })

  it('sends only the events of the owner, the targets and the types that the webhook selects', async () => {
    const world = createWebhookWorld()
    await create(world, { events: ['run.completed'], targets: ['echo'] })
    world.daemon.start()
    await world.run('run_own')
    await world.run('run_other', { owner: 'bob' })
    await world.run('run_mail', { agentId: 'mail' })
    await world.settle()

    expect(runsOf(world.receiver)).toEqual(['run_own'])
    await world.daemon.stop()
  })

  it('sends the events of every owner to a webhook with the owner *', async () => {
    const world = createWebhookWorld()
    await create(world, { events: ['run.completed', 'trigger.*'], owner: '*' })
    world.daemon.start()
    await world.run('run_own')
    await world.run('run_other', { owner: 'bob' })
    const failed = anEvent({
      topic: 'trigger:nightly/events',
      type: 'trigger.failed',
      payload: toJsonText({ triggerId: 'nightly' }),
    })
    await world.storage.unitOfWork.commit([
      { type: 'trigger.insert', trigger: aTrigger() },
      { type: 'event.append', events: [failed] },
    ])
    world.daemon.wake()
    await world.settle()

    expect(typesOf(world.receiver)).toEqual(['run.completed', 'run.completed', 'trigger.failed'])
    await world.daemon.stop()
  })

  it('lets only a caller with a grant for every webhook name another owner', async () => {
    const world = createWebhookWorld()
    const call = { principal: ALICE, visibility: { owner: 'alice' } }
    for (const owner of ['*', 'bob']) {
      const refused = world.manageWebhooks.create({ ...call, webhook: { url: URL, owner } })
      expect(await refused.catch(idOf)).toBe('scope-denied')
    }
    expect(await world.manageWebhooks.create({ ...call, webhook: { url: URL } })).toMatchObject({ status: 201 })
    const star = { principal: { subject: '*', scopes: [] }, visibility: { owner: '*' } }
    expect(await world.manageWebhooks.create({ ...star, webhook: { url: URL } }).catch(idOf)).toBe('scope-denied')
  })

  it('hides a webhook with the events of other owners from a narrower grant of its creator', async () => {
    const world = createWebhookWorld()
    await create(world, { id: 'all', owner: '*' })
    await create(world, { id: 'other', owner: 'bob' })
    await create(world, { id: 'own' })
    const call = { principal: ALICE, visibility: { owner: 'alice' } }

    for (const webhookId of ['all', 'other']) {
      const update = world.manageWebhooks.update({ ...call, webhookId, change: { url: 'https://elsewhere.example/' } })
      expect(await update.catch(idOf)).toBe('webhook-not-found')
    }
    expect((await world.manageWebhooks.list(PAGE, call.visibility)).items.map(({ id }) => id)).toEqual(['own'])
  })

  it('hides a webhook from a caller with a grant for its own webhooks', async () => {
    const world = createWebhookWorld()
    await create(world)
    const call = { webhookId: 'hook', principal: { subject: 'bob', scopes: [] }, visibility: { owner: 'bob' } }

    expect((await world.manageWebhooks.list(PAGE, call.visibility)).items).toEqual([])
    for (const refused of [
      () => world.manageWebhooks.get('hook', call.visibility),
      () => world.manageWebhooks.update({ ...call, change: { url: URL } }),
      () => world.manageWebhooks.remove(call),
      () => world.manageWebhooks.rotate({ ...call, graceSeconds: 0 }),
      () => world.manageDeliveries.list('hook', PAGE, call.visibility),
      () => world.manageDeliveries.test(call),
    ]) {
      expect(await refused().catch(idOf)).toBe('webhook-not-found')
    }
  })

  it('leaves out a result that is too long and says so', async () => {
    const world = createWebhookWorld()
    await create(world, { events: ['run.completed'] })
    world.daemon.start()
    await world.run('run_1', { result: 'x'.repeat(70_000) })
    await world.settle()

    const { data } = JSON.parse(world.receiver.requests[0]?.body ?? '')
    expect(data).toEqual({
      ...{ runId: 'run_1', agentId: 'echo', status: 'completed', resultTruncated: true, resultBytes: 70_002 },
      resultSha256: createHash('sha256')
        .update(`"${'x'.repeat(70_000)}"`)
        .digest('hex'),
    })
    await world.daemon.stop()
  })

  it('writes nothing and sends nothing without a webhook', async () => {
    const world = createWebhookWorld()
    world.daemon.start()
    await world.settle()
    expect(world.daemon.isActive()).toBe(false)
    await world.run('run_1')
    await world.settle(120_000)

    expect(world.receiver.requests).toEqual([])
    expect(await world.storage.deliveries.counts()).toEqual({ pending: 0, dead: 0 })
    await world.daemon.stop()
  })
})

describe('retries of webhook deliveries', () => {
  it('retries for a little over three days with growing delays and then gives up', async () => {
    const world = createWebhookWorld()
    world.receiver.answer = () => ({ status: 500 })
    await create(world, { events: ['run.completed'] })
    const startedAt = world.clock.now()
    world.daemon.start()
    await world.run('run_1')
    await world.settle()
    for (let hours = 0; hours < 24 * 5; hours++) await world.settle(3_600_000)

    const { requests } = world.receiver
    expect(requests).toHaveLength(10)
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
    const lastAt = Number(requests.at(-1)?.headers['webhook-timestamp']) * 1_000
    expect(lastAt - startedAt).toBeGreaterThan(2.5 * DAY_MS)
    expect(lastAt - startedAt).toBeLessThan(4.5 * DAY_MS)
    expect(await statuses(world)).toEqual([['dead', 10]])
    await world.daemon.stop()
  })

  it('sends a dead delivery again on request, with the retries of a new one', async () => {
    const world = createWebhookWorld()
    world.receiver.answer = () => ({ error: 'refused' })
    await create(world, { events: ['run.completed'] })
    world.daemon.start()
    await world.run('run_1')
    await world.settle()
    for (let hours = 0; hours < 24 * 5; hours++) await world.settle(3_600_000)
    const [dead] = (await world.storage.deliveries.list({ webhookId: 'hook', status: 'dead' }, PAGE)).items

    const call = { ...BY_ALICE, webhookId: 'hook', deliveryId: dead?.id ?? '' }
    expect(await world.manageDeliveries.redeliver(call)).toMatchObject({ status: 202, body: { status: 'pending' } })
    await world.settle()
    expect(await statuses(world)).toEqual([['pending', 11]])
    world.receiver.answer = () => ({ status: 200 })
    await world.settle(10_000)
    expect(await statuses(world)).toEqual([['delivered', 12]])
    await world.daemon.stop()
  })

  it('waits at least as long as Retry-After asks, but at most a day', async () => {
    const world = createWebhookWorld()
    world.receiver.answer = () => ({ status: 503, retryAfterMs: 100 * DAY_MS })
    await create(world, { events: ['run.completed'] })
    world.daemon.start()
    await world.run('run_1')
    await world.settle()
    await world.settle(DAY_MS - 60_000)
    expect(world.receiver.requests).toHaveLength(1)
    await world.settle(120_000)
    expect(world.receiver.requests).toHaveLength(2)
    await world.daemon.stop()
  })

  it('disables the webhook when its endpoint answers 410', async () => {
    const world = createWebhookWorld()
    world.receiver.answer = () => ({ status: 410 })
    await create(world)
    world.daemon.start()
    await world.run('run_1')
    await world.settle()

    expect(world.receiver.requests).toHaveLength(1)
    expect(await world.manageWebhooks.get('hook', EVERY_ROW)).toMatchObject({
      enabled: false,
      disabledReason: 'the endpoint answered 410 Gone',
    })
    const test = world.manageDeliveries.test({ ...BY_ALICE, webhookId: 'hook' })
    expect(await test.catch(idOf)).toBe('webhook-disabled')
    world.receiver.answer = () => ({ status: 204 })
    await world.manageWebhooks.enable({ ...BY_ALICE, webhookId: 'hook' })
    await world.settle()
    expect(typesOf(world.receiver)).toEqual(['run.started', 'run.completed'])
    await world.daemon.stop()
  })

  it('gives up when the event is no longer in the log', async () => {
    const world = createWebhookWorld()
    world.receiver.answer = () => ({ status: 500 })
    await create(world, { events: ['run.completed'] })
    world.daemon.start()
    await world.run('run_1')
    await world.settle()
    const before = (world.clock.now() + 1) as EpochMs
    const end = { type: 'run.transition', runId: 'run_1', from: ['queued'], attempt: 1 } as const
    await world.storage.unitOfWork.commit([{ ...end, change: { status: 'completed', completedAt: before } }])
    await world.storage.unitOfWork.commit([{ type: 'event.trim', before, limit: 9 }])
    await world.settle(10_000)

    const [delivery] = (await world.storage.deliveries.list({ webhookId: 'hook' }, PAGE)).items
    expect(delivery).toMatchObject({ status: 'dead', error: 'the event is no longer in the log' })
    await world.daemon.stop()
  })

  it('sends first attempts one at a time in the order of the log while retries wait', async () => {
    const world = createWebhookWorld()
    let inFlight = 0
    let most = 0
    const isFirst = new Set<string>()
    world.receiver.answer = async ({ headers }) => {
      const id = headers['webhook-id'] ?? ''
      if (isFirst.has(id)) return { status: 500 }
      isFirst.add(id)
      inFlight++
      most = Math.max(most, inFlight)
      await new Promise<void>((resolve) => setImmediate(resolve))
      inFlight--
      return { status: 500 }
    }
    await create(world)
    world.daemon.start()
    for (let index = 0; index < 20; index++) await world.run(`run_${index}`)
    await world.settle()
    await world.settle(10_000)
    await world.settle()

    expect(most).toBe(1)
    const firsts = [...isFirst].map((id) => Number(id.split('_')[2]))
    expect(firsts).toHaveLength(40)
    expect(firsts).toEqual(firsts.toSorted((one, other) => one - other))
    await world.daemon.stop()
  })
})

describe('webhooks of several processes', () => {
  it('sends each event once when two processes hold the duty', async () => {
    const storage = createInMemoryStorage({ epoch: 'e1' })
    const receiver = createReceiver()
    const world = createWebhookWorld({ storage, receiver })
    const other = createWebhookWorld({ storage, receiver, clock: world.clock })
    await create(world, { events: ['run.completed'] })
    for (const { daemon } of [world, other]) daemon.start()
    for (let index = 0; index < 10; index++) await world.run(`run_${index}`)
    other.daemon.wake()
    await world.settle()
    await world.settle(60_000)

    expect(eventIdsOf(receiver).toSorted()).toEqual([...new Set(eventIdsOf(receiver))].toSorted())
    expect(new Set(runsOf(receiver)).size).toBe(10)
    for (const { daemon } of [world, other]) await daemon.stop()
  })

  it('sends what a dead process had claimed when its lease expires, and what it had not queued', async () => {
    const storage = createInMemoryStorage({ epoch: 'e1' })
    const receiver = createReceiver()
    const world = createWebhookWorld({ storage, receiver })
    receiver.answer = () => new Promise(() => undefined)
    await create(world, { events: ['run.completed'] })
    world.daemon.start()
    await world.run('run_1')
    await world.settle()
    expect(receiver.requests).toHaveLength(1)
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run_2' }) }])
    const unseen = anEvent({ runId: 'run_2', topic: 'agent:echo/events', type: 'run.completed' })
    await storage.unitOfWork.commit([{ type: 'event.append', events: [unseen] }])

    const survivor = createReceiver()
    const next = createWebhookWorld({ storage, receiver: survivor, clock: world.clock })
    next.daemon.start()
    await next.settle(1_000)
    expect(survivor.requests).toEqual([])
    await next.settle(31_000)
    await next.settle()
    expect(runsOf(survivor)).toEqual(['run_1', 'run_2'])
    await next.daemon.stop()
  })
})
