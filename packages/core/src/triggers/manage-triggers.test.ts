import { perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import {
  ALICE,
  audited,
  bodyOf,
  createStartedServer,
  createTriggerServer,
  HOURLY,
  iso,
  key,
} from './triggers.fixture.ts'

const HOUR = 3_600_000

describe('manageTriggers', () => {
  it('enables a cron trigger in a process that has not loaded the cron library yet', async () => {
    const { storage, clock, ids, ...before } = await createStartedServer()
    await before.create(HOURLY)
    await before.triggers.manageTriggers.disable(before.call('hourly'))
    const after = createTriggerServer({ storage, clock, ids })

    const { body } = await after.triggers.manageTriggers.enable(after.call('hourly'))

    expect(body).toMatchObject({ nextFireAt: '2025-01-01T01:00:00.000Z' })
  })

  it('ignores occurrences that were due while the trigger was disabled, without counting them as missed', async () => {
    const server = await createStartedServer()
    await server.create(HOURLY)
    const { manageTriggers } = server.triggers

    const off = await manageTriggers.disable(server.call('hourly'))
    await server.advance(2.5 * HOUR)
    const on = await manageTriggers.enable(server.call('hourly'))
    await server.advance(HOUR)

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

  it('writes an audit entry but no event for a call that changes nothing', async () => {
    const server = await createStartedServer()
    await server.create(HOURLY)

    await server.triggers.manageTriggers.enable(server.call('hourly'))

    expect(await server.events('hourly')).toEqual([])
    expect(await audited(server.storage)).toContain('triggers.enable hourly')
  })

  it('skips pending fires when a trigger is disabled', async () => {
    const server = await createStartedServer()
    await server.create({ ...HOURLY, overlap: 'queue', target: { agentId: 'held' } })
    await server.advance(2.5 * HOUR)

    await server.triggers.manageTriggers.disable(server.call('hourly'))
    await server.untilIdle()

    expect((await server.fires('hourly')).map(({ status, reason }) => [status, reason])).toEqual([
      ['started', undefined],
      ['skipped', 'the trigger was disabled'],
    ])
  })

  it('deletes a trigger and its fires while its run continues', async () => {
    const server = await createStartedServer()
    await server.create({ ...HOURLY, target: { agentId: 'held' } })
    await server.advance(1.5 * HOUR)

    const reply = await server.triggers.manageTriggers.remove(server.call('hourly'))
    await server.release()

    expect(reply).toMatchObject({ status: 204 })
    await expect(server.trigger('hourly')).rejects.toMatchObject({ code: 'trigger-not-found' })
    expect((await server.runs()).map(({ status }) => status)).toEqual(['completed'])
    await server.advance(HOUR)
    expect(await server.runs()).toHaveLength(1)
  })

  it('prunes only disabled, expired and orphaned triggers', async () => {
    const server = await createTriggerServer({ undeclaredMs: 0 }).start()
    await server.triggers.declare([{ ...HOURLY, id: 'orphan' }])
    await server.triggers.declare([])
    await server.create({ ...HOURLY, id: 'active' })
    await server.create({ ...HOURLY, id: 'expired', expiresAt: '2025-01-01T01:00:00.000Z' })
    await server.create({ ...HOURLY, id: 'off', enabled: false })
    await server.advance(HOUR)

    const reply = await server.triggers.manageTriggers.prune({ principal: ALICE, ...key('p') })
    const again = await server.triggers.manageTriggers.prune({ principal: ALICE, ...key('p') })

    expect((bodyOf(reply).pruned as string[]).toSorted()).toEqual(['expired', 'off', 'orphan'])
    expect(again).toMatchObject({ replayed: true })
    const { items } = await server.triggers.readTriggers.list({ limit: 9, order: 'asc' })
    expect(items.map(({ id }) => id)).toEqual(['active'])
  })

  it('answers trigger-not-found for an unknown id', async () => {
    const server = await createStartedServer()
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
      await expect(refused).rejects.toMatchObject({ code: 'trigger-not-found' })
    }
  })

  it('changes nothing when the audit entry cannot be written', async () => {
    const server = await createStartedServer()
    await server.create(HOURLY)
    const { storage, clock, ids } = server
    const unitOfWork = { commit: () => Promise.reject(perdureError('storage-full')) }
    const full = createTriggerServer({ storage: { ...storage, unitOfWork }, clock, ids })

    for (const refused of [
      full.triggers.manageTriggers.disable(full.call('hourly')),
      full.triggers.manageTriggers.prune({ principal: ALICE }),
      full.triggers.fireByHand(full.call('hourly')),
      full.create({ ...HOURLY, id: 'other' }),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: 'audit-unavailable' })
    }
  })
})
