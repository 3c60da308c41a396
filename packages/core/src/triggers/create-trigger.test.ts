import { aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, audited, bodyOf, createStartedServer, HOURLY, key } from './triggers.fixture.ts'

describe('createTrigger', () => {
  it('answers with the trigger, its location and its next fire time, and writes an audit entry', async () => {
    const server = await createStartedServer()

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
  ])('answers %s to a trigger with %j', async (id, more) => {
    const server = await createStartedServer()
    server.agents.register({ id: 'secret', description: '', agent: { id: 'secret', run: async () => 1 } })
    const session = aSession({ id: 'of-bob', owner: 'bob' })
    await server.storage.unitOfWork.commit([{ type: 'session.insert', session }])
    const definition = { ...HOURLY, timezone: 'UTC', ...more } as never
    const principal = { subject: 'alice', scopes: ['agents:invoke:echo', 'agents:invoke:nobody', 'workflows:execute'] }

    await expect(server.triggers.createTrigger({ definition, principal })).rejects.toMatchObject({ code: id })
    expect((await server.triggers.readTriggers.list({ limit: 9, order: 'asc' })).items).toEqual([])
    expect(await audited(server.storage)).toEqual([])
  })

  it('rejects an input that the target would reject, unless an event supplies the input', async () => {
    const server = await createStartedServer()
    const input = {
      '~standard': {
        ...{ version: 1, vendor: 'test' },
        validate: (value: unknown) => (value === 'good' ? { value } : { issues: [{ message: 'must be good' }] }),
      },
    } as never
    server.agents.register({ id: 'picky', description: '', input, agent: { id: 'picky', run: async () => 1 } })
    const target = { agentId: 'picky' }

    await expect(server.create({ ...HOURLY, target })).rejects.toMatchObject({ code: 'invalid-input' })
    await server.create({ ...HOURLY, target: { ...target, input: 'good' } })
    await server.create({ id: 'paid', kind: 'event', event: 'paid', target })
    await server.engine.emitEvent({ name: 'paid', payload: 'bad' })
    await server.untilIdle()

    expect((await server.fires('paid'))[0]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('must be good'),
    })
  })

  it('rejects an id that is taken, and replays the answer to a repeated request with the same key', async () => {
    const server = await createStartedServer()
    const call = { definition: (await definitionOf(server)) as never, principal: ALICE }

    const first = await server.triggers.createTrigger({ ...call, ...key('k') })
    const again = await server.triggers.createTrigger({ ...call, ...key('k') })
    await expect(server.triggers.createTrigger({ ...call, ...key('other') })).rejects.toMatchObject({
      code: 'trigger-exists',
    })

    expect(first.status).toBe(201)
    expect(again).toMatchObject({ status: 201, replayed: true })
    expect(await audited(server.storage)).toEqual(['triggers.create hourly'])
  })

  it('rejects a trigger above the limit of the server', async () => {
    const server = await createStartedServer()
    const known = (await definitionOf(server)) as object
    await server.create(HOURLY)
    const record = await server.storage.triggers.find('hourly')
    const more = Array.from({ length: 999 }, (_, n) => ({
      type: 'trigger.insert' as const,
      trigger: { ...(record as NonNullable<typeof record>), id: `more-${n}`, dueAt: undefined, nextAt: undefined },
    }))
    await server.storage.unitOfWork.commit(more)

    const definition = { ...known, id: 'last' } as never
    await expect(server.triggers.createTrigger({ definition, principal: ALICE })).rejects.toMatchObject({
      code: 'validation-failed',
      message: expect.stringContaining('1000 triggers'),
    })
  })
})

/** The definition with its defaults. */
const definitionOf = async (_: unknown) => ({
  ...HOURLY,
  ...{ timezone: 'UTC', enabled: true, catchUp: 'latest', maxCatchUp: 10, catchUpWindowMs: 86_400_000 },
  ...{ overlap: 'skip', jitterMs: 0 },
})
