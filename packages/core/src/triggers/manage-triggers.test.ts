import { EVERY_ROW, type Storage } from '@berth/ports'
import { aSession } from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, bodyOf, createTriggerServer, iso, ms } from './triggers.fixture.ts'

const HOUR = 3_600_000
const HOURLY = { id: 'hourly', kind: 'cron', cron: '0 * * * *', target: { agentId: 'echo' } } as const

const serving = () => createTriggerServer().start()
const audited = async ({ audit }: Storage) =>
  (await audit.read({ afterSeq: 0, limit: 100 })).map(({ action, target }) => `${action} ${target}`)
const key = (id: string) => ({ key: { id, fingerprint: id } })

describe('createTrigger', () => {
  it('answers with the trigger, its place and its next time, and leaves a link in the audit chain', async () => {
    const server = await serving()

    const reply = await server.create(HOURLY)

    expect(reply).toMatchObject({ status: 201, location: '/v1/triggers/hourly' })
    expect(bodyOf(reply)).toMatchObject({
      ...{ id: 'hourly', kind: 'cron', cron: '0 * * * *', timezone: 'UTC', target: { agentId: 'echo' } },
      ...{
        source: 'api',
        status: 'active',
        enabled: true,
        catchUp: 'latest',
        overlap: 'skip',
        fireCount: 0,
        missed: 0,
      },
      ...{ lastFireAt: null, lastStatus: null, nextFireAt: '2025-01-01T01:00:00.000Z' },
    })
    expect(bodyOf(reply)).toEqual(await server.trigger('hourly'))
    expect(await audited(server.storage)).toEqual(['triggers.create hourly'])
  })

  it.each([
    ['validation-failed', { cron: '61 * * * *' }],
    ['validation-failed', { timezone: 'Mars/Olympus' }],
    ['validation-failed', { cron: '0 0 30 2 *' }],
    ['validation-failed', { expiresAt: '2025-01-01T00:00:00.000Z' }],
    ['agent-not-found', { target: { agentId: 'nobody' } }],
    ['workflow-not-found', { target: { workflowId: 'nobody' } }],
    ['agent-not-found', { target: { agentId: 'secret' } }],
    ['session-not-found', { target: { agentId: 'echo', sessionId: 'of-bob' } }],
  ])('refuses with %s: %j', async (id, more) => {
    const server = await serving()
    server.agents.register({ id: 'secret', description: '', agent: { id: 'secret', run: async () => 1 } })
    const session = aSession({ id: 'of-bob', owner: 'bob' })
    await server.storage.unitOfWork.commit([{ type: 'session.insert', session }])
    const definition = { ...HOURLY, timezone: 'UTC', ...more } as never
    const principal = { subject: 'alice', scopes: ['agents:invoke:echo', 'agents:invoke:nobody', 'workflows:execute'] }

    await expect(server.triggers.createTrigger({ definition, principal })).rejects.toMatchObject({ id })
    expect((await server.triggers.readTriggers.list({ limit: 9, order: 'asc' })).items).toEqual([])
    expect(await audited(server.storage)).toEqual([])
  })

  it('refuses an input that the target would refuse, but leaves that of an event to its payload', async () => {
    const server = await serving()
    const input = {
      '~standard': {
        ...{ version: 1, vendor: 'test' },
        validate: (value: unknown) => (value === 'good' ? { value } : { issues: [{ message: 'must be good' }] }),
      },
    } as never
    server.agents.register({ id: 'picky', description: '', input, agent: { id: 'picky', run: async () => 1 } })
    const target = { agentId: 'picky' }

    await expect(server.create({ ...HOURLY, target })).rejects.toMatchObject({ id: 'invalid-input' })
    await server.create({ ...HOURLY, target: { ...target, input: 'good' } })
    await server.create({ id: 'paid', kind: 'event', event: 'paid', target })
    await server.engine.emitEvent({ name: 'paid', payload: 'bad' })
    await server.settle()

    expect((await server.fires('paid'))[0]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('must be good'),
    })
  })

  it('refuses an id that is taken, and answers the same request again under its key', async () => {
    const server = await serving()
    const call = { definition: (await bare(server)) as never, principal: ALICE }

    const first = await server.triggers.createTrigger({ ...call, ...key('k') })
    const again = await server.triggers.createTrigger({ ...call, ...key('k') })
    await expect(server.triggers.createTrigger({ ...call, ...key('other') })).rejects.toMatchObject({
      id: 'trigger-exists',
    })

    expect(first.status).toBe(201)
    expect(again).toMatchObject({ status: 201, replayed: true })
    expect(await audited(server.storage)).toEqual(['triggers.create hourly'])
  })

  it('refuses one more than a server holds', async () => {
    const server = await serving()
    const known = (await bare(server)) as object
    await server.create(HOURLY)
    const record = await server.storage.triggers.find('hourly')
    const more = Array.from({ length: 999 }, (_, n) => ({
      type: 'trigger.insert' as const,
      trigger: { ...(record as NonNullable<typeof record>), id: `more-${n}`, dueAt: undefined, nextAt: undefined },
    }))
    await server.storage.unitOfWork.commit(more)

    const definition = { ...known, id: 'last' } as never
    await expect(server.triggers.createTrigger({ definition, principal: ALICE })).rejects.toMatchObject({
      id: 'validation-failed',
      message: expect.stringContaining('1000 triggers'),
    })
  })
})

/** The definition with its defaults. */
const bare = async (_: unknown) => ({
  ...HOURLY,
  ...{ timezone: 'UTC', enabled: true, catchUp: 'latest', maxCatchUp: 10, catchUpWindowMs: 86_400_000 },
  ...{ overlap: 'skip', jitterMs: 0 },
})

describe('manageTriggers', () => {
  it('enables a trigger with a cron rule in a process that has seen none before', async () => {
    const { storage, clock, ids, ...before } = await serving()
    await before.create(HOURLY)
    await before.triggers.manageTriggers.disable(before.call('hourly'))
    const after = createTriggerServer({ storage, clock, ids })

    const { body } = await after.triggers.manageTriggers.enable(after.call('hourly'))

    expect(body).toMatchObject({ nextFireAt: '2025-01-01T01:00:00.000Z' })
  })

  it('disables and enables: what would have been due in between is neither fired nor missed', async () => {
    const server = await serving()
    await server.create(HOURLY)
    const { manageTriggers } = server.triggers

    const off = await manageTriggers.disable(server.call('hourly'))
    await server.pass(2.5 * HOUR)
    const on = await manageTriggers.enable(server.call('hourly'))
    await server.pass(HOUR)

    expect(bodyOf(off)).toMatchObject({ enabled: false, status: 'disabled', nextFireAt: null })
    expect(bodyOf(on)).toMatchObject({ enabled: true, nextFireAt: '2025-01-01T03:00:00.000Z', missed: 0 })
    expect((await server.fires('hourly')).map(({ scheduledAt }) => iso(scheduledAt))).toEqual([
      '2025-01-01T03:00:00.000Z',
    ])
    expect(await server.events('hourly')).toEqual(['trigger.disabled', 'trigger.enabled', 'trigger.fired'])
    expect(await audited(server.storage)).toEqual([
      'triggers.create hourly',
      'triggers.disable hourly',
      'triggers.enable hourly',
    ])
  })

  it('says nothing of a change that is none, and still audits it', async () => {
    const server = await serving()
    await server.create(HOURLY)

    await server.triggers.manageTriggers.enable(server.call('hourly'))

    expect(await server.events('hourly')).toEqual([])
    expect(await audited(server.storage)).toContain('triggers.enable hourly')
  })

  it('skips the fires that wait when a trigger is disabled', async () => {
    const server = await serving()
    await server.create({ ...HOURLY, overlap: 'queue', target: { agentId: 'held' } })
    await server.pass(2.5 * HOUR)

    await server.triggers.manageTriggers.disable(server.call('hourly'))
    await server.settle()

    expect((await server.fires('hourly')).map(({ status, reason }) => [status, reason])).toEqual([
      ['started', undefined],
      ['skipped', 'the trigger was disabled'],
    ])
  })

  it('removes a trigger with its fires; its run goes on', async () => {
    const server = await serving()
    await server.create({ ...HOURLY, target: { agentId: 'held' } })
    await server.pass(1.5 * HOUR)

    const reply = await server.triggers.manageTriggers.remove(server.call('hourly'))
    await server.release()

    expect(reply).toMatchObject({ status: 204 })
    await expect(server.trigger('hourly')).rejects.toMatchObject({ id: 'trigger-not-found' })
    expect((await server.runs()).map(({ status }) => status)).toEqual(['completed'])
    await server.pass(HOUR)
    expect(await server.runs()).toHaveLength(1)
  })

  it('prunes what is disabled, expired and orphaned, and nothing else', async () => {
    const server = await serving()
    await server.triggers.declare([{ ...HOURLY, id: 'orphan' }])
    await server.triggers.declare([])
    await server.create({ ...HOURLY, id: 'active' })
    await server.create({ ...HOURLY, id: 'expired', expiresAt: '2025-01-01T01:00:00.000Z' })
    await server.create({ ...HOURLY, id: 'off', enabled: false })
    await server.pass(HOUR)

    const reply = await server.triggers.manageTriggers.prune({ principal: ALICE, ...key('p') })
    const again = await server.triggers.manageTriggers.prune({ principal: ALICE, ...key('p') })

    expect((bodyOf(reply).pruned as string[]).toSorted()).toEqual(['expired', 'off', 'orphan'])
    expect(again).toMatchObject({ replayed: true })
    const { items } = await server.triggers.readTriggers.list({ limit: 9, order: 'asc' })
    expect(items.map(({ id }) => id)).toEqual(['active'])
  })

  it('refuses what is about no trigger', async () => {
    const server = await serving()
    const call = server.call('nothing')
    const { manageTriggers, fireByHand, readTriggers } = server.triggers
    const page = { limit: 9, order: 'asc' } as const

    for (const refused of [
      manageTriggers.enable(call),
      manageTriggers.disable(call),
      manageTriggers.remove(call),
      fireByHand(call),
      readTriggers.fires('nothing', page),
    ]) {
      await expect(refused).rejects.toMatchObject({ id: 'trigger-not-found' })
    }
  })

  it('does nothing when its link of the audit chain cannot be written', async () => {
    const server = await serving()
    await server.create(HOURLY)
    const { storage, clock, ids } = server
    const { AppError } = await import('@berth/ports')
    const unitOfWork = { commit: () => Promise.reject(new AppError('storage-full')) }
    const full = createTriggerServer({ storage: { ...storage, unitOfWork }, clock, ids })

    for (const refused of [
      full.triggers.manageTriggers.disable(full.call('hourly')),
      full.triggers.manageTriggers.prune({ principal: ALICE }),
      full.triggers.fireByHand(full.call('hourly')),
      full.create({ ...HOURLY, id: 'other' }),
    ]) {
      await expect(refused).rejects.toMatchObject({ id: 'audit-unavailable' })
    }
  })
})

describe('fireByHand', () => {
  it('starts a run at once, also of a disabled trigger and beside a run that has not ended', async () => {
    const server = await serving()
    await server.create({ ...HOURLY, enabled: false, target: { agentId: 'held', input: 7 } })
    const fire = () => server.triggers.fireByHand(server.call('hourly'))

    const reply = await fire()
    await fire()
    await server.settle()

    const [first, second] = await server.fires('hourly')
    expect(reply).toMatchObject({ status: 202, location: `/v1/runs/${first?.runId}` })
    expect(bodyOf(reply)).toEqual({ fireId: first?.id, runId: first?.runId })
    expect(first).toMatchObject({ cause: 'manual', status: 'started', scheduledAt: ms('2025-01-01T00:00:00Z') })
    expect(second?.runId).not.toBe(first?.runId)
    expect(await server.trigger('hourly')).toMatchObject({ fireCount: 2, nextFireAt: null, lastStatus: 'started' })
    expect(await server.events('hourly')).toEqual(['trigger.fired', 'trigger.fired'])
    expect((await audited(server.storage)).at(-1)).toBe('triggers.fire hourly')
  })

  it('starts one run under one key, and answers the same again', async () => {
    const server = await serving()
    await server.create(HOURLY)
    const call = { ...server.call('hourly'), ...key('once') }

    const first = await server.triggers.fireByHand(call)
    const again = await server.triggers.fireByHand(call)

    expect(again).toMatchObject({ replayed: true, status: 202 })
    expect(bodyOf(again)).toEqual(bodyOf(first))
    expect(await server.runs()).toHaveLength(1)
    expect(await server.fires('hourly')).toHaveLength(1)
  })

  it('records nothing when the target refuses', async () => {
    const server = await serving()
    await server.create({ ...HOURLY, target: { agentId: 'single' } })
    await server.triggers.fireByHand(server.call('hourly'))

    await expect(server.triggers.fireByHand(server.call('hourly'))).rejects.toMatchObject({ id: 'agent-busy' })

    expect(await server.fires('hourly')).toHaveLength(1)
    expect(await server.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).toMatchObject({
      items: [{ status: 'running' }],
    })
  })

  it('takes no occurrence of the schedule away, also at its very instant', async () => {
    const server = await serving()
    await server.create(HOURLY)
    await server.stop()
    server.clock.advance(HOUR)
    await server.triggers.fireByHand(server.call('hourly'))

    const { storage, clock, ids } = server
    const next = await createTriggerServer({ storage, clock, ids }).start()

    expect((await next.fires('hourly')).map(({ cause }) => cause)).toEqual(['manual', 'schedule'])
  })
})
