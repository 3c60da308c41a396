import { describe, expect, it } from 'vitest'
import { createStartedServer, HOURLY } from './triggers.fixture.ts'

const nextOf = async (rule: object, request: { readonly limit: number; readonly since?: string }) => {
  const server = await createStartedServer()
  await server.create({ ...HOURLY, ...rule })
  const { fires } = await server.triggers.readTriggers.next('hourly', request)
  return fires.map(({ at }) => at.slice(0, 16))
}

describe('the next fires of a trigger', () => {
  it('follow the present, or the given time', async () => {
    expect(await nextOf({}, { limit: 2 })).toEqual(['2025-01-01T01:00', '2025-01-01T02:00'])
    expect(await nextOf({}, { limit: 1, since: '2026-05-01T10:30:00.000Z' })).toEqual(['2026-05-01T11:00'])
  })

  it.each([
    [
      'Europe/Berlin',
      '30 2 * * *',
      '2026-03-28T00:00:00.000Z',
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-10-31T00:00:00.000Z',
      ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30'],
    ],
    [
      'Australia/Lord_Howe',
      '15 2 * * *',
      '2026-10-02T16:00:00.000Z',
      ['2026-10-03T15:30', '2026-10-04T15:15', '2026-10-05T15:15'],
    ],
    [
      'Africa/Casablanca',
      '30 2 * * *',
      '2026-02-14T00:00:00.000Z',
      ['2026-02-14T01:30', '2026-02-15T01:30', '2026-02-16T02:30'],
    ],
  ])('occur once on days when clocks change in %s', async (timezone, cron, since, expected) => {
    expect(await nextOf({ timezone, cron }, { limit: 3, since })).toEqual(expected)
  })

  it('end with the trigger', async () => {
    expect(await nextOf({ expiresAt: '2025-01-01T02:30:00.000Z' }, { limit: 9 })).toHaveLength(2)
  })

  it('are unknown for a trigger that follows no clock, and for no trigger at all', async () => {
    const server = await createStartedServer()
    await server.create({ kind: 'event', id: 'on-order', event: 'order', target: { agentId: 'echo' } } as never)

    expect(await server.triggers.readTriggers.next('on-order', { limit: 5 })).toEqual({ fires: [] })
    await expect(server.triggers.readTriggers.next('nothing', { limit: 5 })).rejects.toMatchObject({
      code: 'trigger-not-found',
    })
  })
})
