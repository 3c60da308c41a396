import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clockAt } from './faked-clock.ts'
import { createSandbox, startServer } from './perdure-process.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/triggers.config.mjs')
const ARGS = ['server', '--config', CONFIG]

const policies = (id: string, rule: object) =>
  (['none', 'latest', 'all'] as const).map((catchUp) => ({
    ...{ id: `${id}-${catchUp}`, kind: 'cron', overlap: 'allow', target: { agentId: 'echo' } },
    ...{ ...rule, catchUp },
  }))

interface Fire {
  readonly scheduledAt: string
  readonly status: string
}

async function firesOf(url: string, id: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/triggers/${id}/fires?order=asc`)
  const { items } = (await response.json()) as { readonly items: readonly Fire[] }
  return items.map(({ scheduledAt, status }) => `${scheduledAt.slice(11, 16)} ${status}`).toSorted()
}

const DOWN_TIMES = [
  {
    title: 'New York moves its clocks forward by an hour',
    ...{ timezone: 'America/New_York', stopped: '2025-03-09T06:20:00', started: '2025-03-09T09:20:00' },
    hourly: ['07:00', '07:15', '08:15', '09:15'],
    nightly: ['07:00'],
  },
  {
    title: 'New York moves its clocks back by an hour',
    ...{ timezone: 'America/New_York', stopped: '2025-11-02T05:10:00', started: '2025-11-02T08:10:00' },
    hourly: ['05:15', '07:15'],
    nightly: ['07:30'],
  },
  {
    title: 'Lord Howe moves its clocks forward by half an hour',
    ...{ timezone: 'Australia/Lord_Howe', stopped: '2025-10-04T14:20:00', started: '2025-10-04T17:20:00' },
    hourly: ['14:45', '15:30', '16:15', '17:15'],
    nightly: ['15:30'],
  },
]

const all = (times: readonly string[], status: string) => times.map((time) => `${time} ${status}`)
const latest = (times: readonly string[]) => [
  ...all(times.slice(0, -1), 'missed'),
  ...all(times.slice(-1), 'completed'),
]

describe('a server that was down for three hours', () => {
  it.each(DOWN_TIMES)('fires according to each catch-up policy when $title', async (down) => {
    const { timezone, stopped, started, hourly, nightly } = down
    const nightlyCron = timezone === 'Australia/Lord_Howe' ? '10 2 * * *' : '30 2 * * *'
    const rules = [
      ...policies('hourly', { cron: '15 * * * *', timezone }),
      ...policies('nightly', { cron: nightlyCron, timezone }),
    ]
    const sandbox = createSandbox({ E2E_RULES: JSON.stringify(rules) })
    const before = await startServer(clockAt(sandbox, stopped), ARGS)
    await before.kill('SIGTERM')

    const { url, kill } = await startServer(clockAt(sandbox, started), ARGS)
    const story = async () =>
      Object.fromEntries(await Promise.all(rules.map(async ({ id }) => [id, await firesOf(url, id)])))

    await expect.poll(story).toEqual({
      'hourly-none': all(hourly, 'missed'),
      'hourly-latest': latest(hourly).toSorted(),
      'hourly-all': all(hourly, 'completed'),
      'nightly-none': all(nightly, 'missed'),
      'nightly-latest': all(nightly, 'completed'),
      'nightly-all': all(nightly, 'completed'),
    })
    await kill('SIGTERM')

    const again = await startServer(clockAt(sandbox, started), ARGS)
    type Health = { readonly checks: { readonly triggers: { readonly active: number } } }
    const health = async () => (await (await fetch(`${again.url}/health`)).json()) as Health
    await expect.poll(async () => (await health()).checks.triggers.active).toBe(6)
    expect(await firesOf(again.url, 'hourly-all')).toEqual(all(hourly, 'completed'))
    expect(await firesOf(again.url, 'hourly-latest')).toEqual(latest(hourly).toSorted())
    await again.kill('SIGTERM')
  })
})
