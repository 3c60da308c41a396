import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox, startServer } from './perdure-process.ts'

const ARGS = ['server', '--config', join(import.meta.dirname, 'fixtures/triggers.config.mjs')]
const RULE = { id: 'beat', kind: 'interval', intervalMs: 1_000, catchUp: 'all', maxCatchUp: 100, overlap: 'allow' }

interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

async function all<T>(url: string, path: string): Promise<readonly T[]> {
  const items: T[] = []
  let cursor = ''
  do {
    const page = (await (await fetch(`${url}${path}?order=asc&limit=200${cursor}`)).json()) as Page<T>
    items.push(...page.items)
    cursor = page.nextCursor === null ? '' : `&cursor=${encodeURIComponent(page.nextCursor)}`
  } while (cursor !== '')
  return items
}

describe('a server that is killed again and again', () => {
  it('starts exactly one run for every second of an interval trigger, including the seconds while it was down', async () => {
    const rules = [{ ...RULE, target: { agentId: 'echo' } }]
    const sandbox = createSandbox({ E2E_RULES: JSON.stringify(rules) })
    const fireCount = async (url: string) =>
      ((await (await fetch(`${url}/triggers/beat`)).json()) as { readonly fireCount: number }).fireCount

    for (let round = 1; round <= 5; round++) {
      const { url, kill } = await startServer(sandbox, ARGS)
      await expect.poll(() => fireCount(url)).toBeGreaterThanOrEqual(round * 2)
      await kill('SIGKILL')
    }
    const { url, kill } = await startServer(sandbox, ARGS)
    await expect.poll(() => fireCount(url)).toBeGreaterThanOrEqual(12)
    await fetch(`${url}/triggers/beat/disable`, { method: 'POST', headers: { 'content-type': 'application/json' } })

    type Fire = { readonly scheduledAt: string; readonly runId?: string }
    type Run = { readonly id: string; readonly metadata: { readonly scheduledAt: string } }
    const fires = await all<Fire>(url, '/triggers/beat/fires')
    await expect.poll(async () => (await all<Run>(url, '/runs')).length).toBe(fires.length)
    const runs = await all<Run>(url, '/runs')
    const seconds = fires.map(({ scheduledAt }) => Date.parse(scheduledAt)).toSorted((one, other) => one - other)
    const [first = 0] = seconds
    expect(seconds).toEqual(seconds.map((_, index) => first + index * 1_000))
    expect(runs.map(({ id }) => id).toSorted()).toEqual(fires.map(({ runId }) => runId).toSorted())
    expect(new Set(runs.map(({ metadata }) => metadata.scheduledAt)).size).toBe(runs.length)
    await kill('SIGTERM')
  })
})
