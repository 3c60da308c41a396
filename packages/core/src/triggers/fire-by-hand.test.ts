import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { audited, bodyOf, createStartedServer, createTriggerServer, HOURLY, key, ms } from './triggers.fixture.ts'

const HOUR = 3_600_000

describe('fireByHand', () => {
  it('starts a run even if the trigger is disabled or its previous run has not ended', async () => {
    const server = await createStartedServer()
    await server.create({ ...HOURLY, enabled: false, target: { agentId: 'held', input: 7 } })
    const fire = () => server.triggers.fireByHand(server.call('hourly'))

    const reply = await fire()
    await fire()
    await server.untilIdle()

    const [first, second] = await server.fires('hourly')
    expect(reply).toMatchObject({ status: 202, location: `/v1/runs/${first?.runId}` })
    expect(bodyOf(reply)).toEqual({ fireId: first?.id, runId: first?.runId })
    expect(first).toMatchObject({ cause: 'manual', status: 'started', scheduledAt: ms('2025-01-01T00:00:00Z') })
    expect(second?.runId).not.toBe(first?.runId)
    expect(await server.trigger('hourly')).toMatchObject({ fireCount: 2, nextFireAt: null, lastStatus: 'started' })
    expect(await server.events('hourly')).toEqual(['trigger.fired', 'trigger.fired'])
    expect((await audited(server.storage)).at(-1)).toBe('triggers.fire hourly')
  })

  it('starts one run per key and replays the answer', async () => {
    const server = await createStartedServer()
    await server.create(HOURLY)
    const call = { ...server.call('hourly'), ...key('once') }

    const first = await server.triggers.fireByHand(call)
    const again = await server.triggers.fireByHand(call)

    expect(again).toMatchObject({ replayed: true, status: 202 })
    expect(bodyOf(again)).toEqual(bodyOf(first))
    expect(await server.runs()).toHaveLength(1)
    expect(await server.fires('hourly')).toHaveLength(1)
  })

  it('records nothing when the target rejects the run', async () => {
    const server = await createStartedServer()
    await server.create({ ...HOURLY, target: { agentId: 'single' } })
    await server.triggers.fireByHand(server.call('hourly'))

    await expect(server.triggers.fireByHand(server.call('hourly'))).rejects.toMatchObject({ code: 'agent-busy' })

    expect(await server.fires('hourly')).toHaveLength(1)
    expect(await server.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).toMatchObject({
      items: [{ status: 'running' }],
    })
  })

  it('does not replace a scheduled occurrence at the same instant', async () => {
    const server = await createStartedServer()
    await server.create(HOURLY)
    await server.stop()
    server.clock.advance(HOUR)
    await server.triggers.fireByHand(server.call('hourly'))

    const { storage, clock, ids } = server
    const next = await createTriggerServer({ storage, clock, ids }).start()

    expect((await next.fires('hourly')).map(({ cause }) => cause)).toEqual(['manual', 'schedule'])
  })
})
