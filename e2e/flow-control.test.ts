import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { eventually } from './durable-server.ts'
import { type FlowServer, mostAtOnce, startFlowServer, timeOf } from './flow-server.ts'
import { createToken } from './perdure-process.ts'

/** Long enough for a run that exceeds a limit to start. */
const SURPLUS_MS = 300

const count = (length: number) => Array.from({ length }, (_, index) => index)

/** Starts one run after the other, so that their order is known. */
async function beginInOrder<T>(items: readonly T[], begin: (item: T) => Promise<string>): Promise<readonly string[]> {
  const runIds: string[] = []
  for (const item of items) runIds.push(await begin(item))
  return runIds
}

const newStarts = (server: FlowServer, before: number) => server.started().slice(before)

describe('a concurrency limit with a key, when the server is killed', () => {
  const KEYS = ['one', 'two', 'three']
  const PER_KEY = 8

  it.each(['/agents/per-key/stream', '/workflows/per-key-steps/execute'])(
    'executes at most two runs of each key at once, in order, and completes all of them: %s',
    async (path) => {
      const server = await startFlowServer()
      const started = count(PER_KEY).flatMap((index) => KEYS.map((key) => ({ key, index })))
      const runIds = await beginInOrder(started, ({ key, index }) =>
        server.begin(path, { input: { key, ms: 60, ...(index < 2 ? { gate: 'open' } : {}) } }),
      )
      const ofKey = (key: string) => runIds.filter((_, index) => started[index]?.key === key)
      const first = runIds.slice(0, 2 * KEYS.length)
      await eventually(() => server.started().length).toBe(first.length)
      await setTimeout(SURPLUS_MS)
      expect(new Set(server.started())).toEqual(new Set(first))

      await server.restart()
      await eventually(() => server.started().length).toBe(2 * first.length)
      await setTimeout(SURPLUS_MS)
      expect(new Set(newStarts(server, first.length))).toEqual(new Set(first))
      expect(server.started()).toHaveLength(2 * first.length)

      server.openGate('open')
      await eventually(() => new Set(server.started()).size).toBeGreaterThan(2 * first.length)
      const sent = [...KEYS, ...KEYS, ...KEYS].map((key) => server.begin(path, { input: { key, ms: 60 } }))
      const settled = Promise.allSettled(sent)
      await Promise.race(sent)
      await server.restart()
      const acknowledged = (await settled).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      await server.untilCompleted([...runIds, ...acknowledged])

      const executions = mostAtOnce(server.lines())
      expect(executions).toEqual(new Map(KEYS.map((key) => [key, 2])))
      for (const key of KEYS) {
        const times = (await server.runs(ofKey(key))).map(({ startedAt }) => timeOf(startedAt))
        expect(times).toEqual([...times].sort((one, other) => one - other))
      }
    },
  )
})

describe('a rate limit, when the server is killed', () => {
  const LIMIT = 3
  const PERIOD_MS = 2_000

  it('never starts more runs in a period than it allows, and completes all of them', async () => {
    const server = await startFlowServer()
    const runIds = await beginInOrder(count(4 * LIMIT), () => server.begin('/agents/rated/stream', { input: {} }))
    await eventually(() => server.started().length).toBeGreaterThanOrEqual(LIMIT)
    await server.restart()
    await eventually(() => new Set(server.started()).size).toBeGreaterThanOrEqual(2 * LIMIT)
    await server.restart()
    await server.untilCompleted(runIds)

    const times = (await server.runs(runIds)).map(({ startedAt }) => timeOf(startedAt))
    expect(times).toEqual([...times].sort((one, other) => one - other))
    const spans = times.slice(LIMIT).map((time, index) => time - (times[index] ?? 0))
    expect(Math.min(...spans)).toBeGreaterThanOrEqual(PERIOD_MS)
    expect(Math.max(...spans)).toBeLessThan(PERIOD_MS + 10_000) // no period passes unused
  })
})

describe('priorities, when the server is killed', () => {
  it('starts the runs by priority, and those with the same priority in order', async () => {
    const server = await startFlowServer({ PERDURE_RUNS_CONCURRENCY: '1' })
    const begin = (priority: number, gate?: string) =>
      server.begin('/agents/free/stream', { input: gate === undefined ? {} : { gate }, priority })
    const first = await begin(0, 'never')
    await eventually(server.started).toEqual([first])
    const queued = [0, 5, -5, 5, 90, 0, -100, 5]
    const runIds = await beginInOrder(queued, (priority) => begin(priority, priority === 90 ? 'next' : undefined))
    await server.post(`/runs/${first}/abort`, {})
    await eventually(server.started).toEqual([first, runIds[4]])

    await server.restart()
    await eventually(server.started).toEqual([first, runIds[4], runIds[4]])
    const late = await beginInOrder([30, 5, -30], (priority) => begin(priority))
    server.openGate('next')
    await server.untilCompleted([...runIds, ...late])

    const [of30, of5, ofMinus30] = late
    const expected = [of30, runIds[1], runIds[3], runIds[7], of5, runIds[0], runIds[5], runIds[2], ofMinus30, runIds[6]]
    expect(newStarts(server, 3)).toEqual(expected)
    const priorities = (await server.runs(runIds)).map(({ priority }) => priority ?? 0)
    expect(priorities).toEqual(queued)
  })
})

describe('the shares of two subjects, when the server is killed', () => {
  const NOISY = 40
  const QUIET = 6
  /** Runs of `noisy` take longer, so they would soon hold every slot if taking turns were the only rule. */
  const NOISY_MS = 150
  const QUIET_MS = 20

  it('lets the subjects take turns after the restart', async () => {
    const server = await startFlowServer({ PERDURE_RUNS_CONCURRENCY: '4' })
    const scopes = 'agents:invoke,runs:read:own'
    const noisy = await createToken(server.sandbox, scopes, 'noisy')
    const quiet = await createToken(server.sandbox, scopes, 'quiet')
    const begin = (token: string, key: string, ms: number) =>
      server.begin('/agents/free/stream', { input: { key, ms, gate: 'open' } }, { token })
    const ofNoisy = await beginInOrder(count(NOISY), () => begin(noisy, 'noisy', NOISY_MS))
    await eventually(() => server.started().length).toBeGreaterThan(0)
    const ofQuiet = await beginInOrder(count(QUIET), () => begin(quiet, 'quiet', QUIET_MS))

    await server.kill('SIGKILL')
    const before = server.lines().length
    server.openGate('open')
    await server.start()
    await server.untilCompleted([...ofNoisy, ...ofQuiet])

    const lines = server.lines().slice(before)
    const keys = lines.flatMap(({ what, key }) => (what === 'start' ? [key] : []))
    expect(keys).toHaveLength(NOISY + QUIET)
    // The subjects take turns, so at most about as many runs of `noisy` start meanwhile.
    expect(keys.lastIndexOf('quiet')).toBeLessThan(3 * QUIET)
    const starts = lines.flatMap(({ what, key }, index) => (what === 'start' && key === 'quiet' ? [index] : []))
    // A run of `quiet` still waits until the last but one has started, so `noisy` holds at most its half of the slots.
    expect(mostAtOnce(lines.slice(0, starts.at(-2))).get('noisy')).toBeLessThanOrEqual(2)
  })
})
