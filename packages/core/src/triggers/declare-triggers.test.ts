import { StartError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createOtherNodes } from '../declarations/other-nodes.fixture.ts'
import { triggerFingerprint } from './declare-triggers.ts'
import type { TriggerRegistration } from './trigger-definition.ts'
import { createTriggerServer, type ServerOptions, testDigest } from './triggers.fixture.ts'

const HOUR = 3_600_000
const HOURLY = { id: 'hourly', kind: 'cron', cron: '0 * * * *', target: { agentId: 'echo' } } as const

type Server = Awaited<ReturnType<typeof createTriggerServer>>

/** The server after a restart with other declarations. */
async function restarted(
  { storage, clock, ids, stop }: Server,
  registrations: readonly TriggerRegistration[],
  options: Pick<ServerOptions, 'nodes' | 'undeclaredMs'> = {},
) {
  await stop()
  const next = createTriggerServer({ storage, clock, ids, ...options })
  await next.triggers.declare(registrations)
  return next.start()
}

async function declared(...registrations: readonly TriggerRegistration[]) {
  const server = createTriggerServer()
  await server.triggers.declare(registrations)
  return server.start()
}

describe('declareTriggers', () => {
  it('creates triggers whose runs are owned by the system', async () => {
    const server = await declared(HOURLY)
    await server.advance(1.5 * HOUR)

    expect(await server.trigger('hourly')).toMatchObject({ source: 'code', status: 'active', fireCount: 1 })
    expect((await server.runs())[0]).toMatchObject({ owner: 'system', triggerId: 'hourly' })
  })

  it('keeps the schedule of an unchanged trigger, so that the trigger catches up on the downtime', async () => {
    const server = await declared({ ...HOURLY, catchUp: 'all', overlap: 'allow' })
    await server.stop()
    server.clock.advance(3 * HOUR)

    const next = await restarted(server, [{ ...HOURLY, catchUp: 'all', overlap: 'allow' }])

    expect(await next.fires('hourly')).toHaveLength(3)
  })

  it('keeps the next occurrence when a policy changes, and reschedules from now when the timing changes', async () => {
    const server = await declared(HOURLY)
    await server.advance(1.5 * HOUR)

    const jittered = await restarted(server, [{ ...HOURLY, overlap: 'allow', target: { agentId: 'echo', input: 1 } }])
    expect(await jittered.trigger('hourly')).toMatchObject({
      ...{ overlap: 'allow', fireCount: 1, nextFireAt: '2025-01-01T02:00:00.000Z' },
      target: { agentId: 'echo', input: 1 },
    })

    const moved = await restarted(jittered, [{ ...HOURLY, cron: '15 * * * *' }])
    expect(await moved.trigger('hourly')).toMatchObject({ nextFireAt: '2025-01-01T02:15:00.000Z', missed: 0 })
  })

  it('leaves a trigger disabled after an operator disabled it, until enabled changes in code', async () => {
    const server = await declared(HOURLY)
    await server.triggers.manageTriggers.disable(server.call('hourly'))

    const same = await restarted(server, [HOURLY])
    expect(await same.trigger('hourly')).toMatchObject({ status: 'disabled' })
    const policy = await restarted(same, [{ ...HOURLY, overlap: 'allow' }])
    expect(await policy.trigger('hourly')).toMatchObject({ status: 'disabled', overlap: 'allow' })
    await restarted(policy, [{ ...HOURLY, enabled: false }])
    const enabled = await restarted(policy, [{ ...HOURLY, enabled: true }])
    expect(await enabled.trigger('hourly')).toMatchObject({ status: 'active', nextFireAt: '2025-01-01T01:00:00.000Z' })
  })

  it('lets a trigger fire for the grace period that no process declares, and then orphans it', async () => {
    const server = await declared(HOURLY)

    const without = await restarted(server, [], { undeclaredMs: 2 * HOUR })
    await without.advance(1.5 * HOUR)
    await without.triggers.redeclare()
    expect(await without.trigger('hourly')).toMatchObject({
      ...{ status: 'active', nextFireAt: '2025-01-01T02:00:00.000Z', fireCount: 1 },
      undeclaredAt: '2025-01-01T00:00:00.000Z',
    })

    await without.advance(HOUR)
    await without.triggers.redeclare()
    await without.advance(2 * HOUR)
    expect(await without.trigger('hourly')).toMatchObject({ status: 'orphaned', nextFireAt: null, fireCount: 2 })

    const back = await restarted(without, [HOURLY])
    const { status, nextFireAt, undeclaredAt } = await back.trigger('hourly')
    expect([status, nextFireAt, undeclaredAt]).toEqual(['active', '2025-01-01T05:00:00.000Z', undefined])
  })

  it('keeps a trigger that another living process declares, or may declare', async () => {
    const { nodes, others, declaring } = createOtherNodes()
    const server = await declared(HOURLY)

    for (const declares of [[declaring('trigger', 'hourly', 'f')], undefined]) {
      others.set('newer', declares)
      const older = await restarted(server, [], { nodes, undeclaredMs: 0 })
      await older.triggers.redeclare()
      expect(await older.trigger('hourly')).toMatchObject({ status: 'active', undeclaredAt: undefined })
      await older.stop()
    }
  })

  it('schedules a declared trigger again that a process which did not know of this one has made an orphan', async () => {
    const server = await declared(HOURLY)
    const stranger = createTriggerServer({ storage: server.storage, clock: server.clock, undeclaredMs: 0 })
    await stranger.triggers.declare([])
    expect(await server.trigger('hourly')).toMatchObject({ status: 'orphaned', nextFireAt: null })

    await server.triggers.redeclare()

    expect(await server.trigger('hourly')).toMatchObject({ status: 'active', nextFireAt: '2025-01-01T01:00:00.000Z' })
  })

  it('counts the triggers for the health before the daemon starts', async () => {
    const first = await declared(HOURLY)
    await first.create({ ...HOURLY, id: 'of-api' })
    await first.stop()
    const next = createTriggerServer({ storage: first.storage, clock: first.clock, ids: first.ids })

    await next.triggers.declare([HOURLY])

    expect(next.triggers.daemon.health()).toMatchObject({ active: 2, disabled: 0 })
  })

  it('keeps the definition of a newer configuration, until no process declares it any more', async () => {
    const newer = { ...HOURLY, cron: '30 * * * *' }
    const { nodes, others, declaring } = createOtherNodes()
    others.set('newer', [declaring('trigger', 'hourly', triggerFingerprint(testDigest, newer))])
    const server = await restarted(await declared(HOURLY), [newer])

    const older = await restarted(server, [HOURLY], { nodes })
    expect(await older.trigger('hourly')).toMatchObject({ cron: '30 * * * *' })
    others.delete('newer')
    await older.triggers.redeclare()
    expect(await older.trigger('hourly')).toMatchObject({ cron: '0 * * * *' })
  })

  it('replaces a trigger with the same id that was created over the API', async () => {
    const server = createTriggerServer()
    await server.start()
    await server.create({ ...HOURLY, cron: '30 * * * *' })

    const next = await restarted(server, [HOURLY])

    expect(await next.trigger('hourly')).toMatchObject({ source: 'code', cron: '0 * * * *' })
  })

  it.each([
    ['cron', { ...HOURLY, cron: '61 * * * *' }],
    ['timezone', { ...HOURLY, timezone: 'Mars/Olympus' }],
    ['target', { ...HOURLY, target: { agentId: 'nobody' } }],
    ['target', { ...HOURLY, target: { workflowId: 'nobody' } }],
    ['target', { ...HOURLY, target: {} }],
    ['intervalMs', { ...HOURLY, kind: 'interval', intervalMs: 999 }],
    ['id', { ...HOURLY, id: 'no blanks' }],
    ['kind', { ...HOURLY, kind: 'monthly' }],
    ['extra', { ...HOURLY, extra: 1 }],
  ])('throws an error that names the field %s for %j', async (member, registration) => {
    const server = createTriggerServer()

    const refused = server.triggers.declare([{ ...HOURLY, id: 'good' }, registration as never])

    await expect(refused).rejects.toThrow(StartError)
    await expect(refused).rejects.toMatchObject({ kind: 'config-invalid', message: expect.stringContaining(member) })
    await expect(server.trigger('good')).rejects.toMatchObject({ code: 'trigger-not-found' })
  })

  it('names the index of a registration without an id', async () => {
    const refused = declared(HOURLY, null as never)

    await expect(refused).rejects.toMatchObject({
      message: 'trigger 1: Invalid type: Expected Object but received null',
    })
  })

  it('rejects an id that is declared twice', async () => {
    await expect(declared(HOURLY, HOURLY)).rejects.toMatchObject({ message: expect.stringContaining('twice') })
  })
})
