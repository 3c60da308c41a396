import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type FlowRun, type FlowServer, startFlowServer, timeOf } from './flow-server.ts'

/** How late a run may start on an idle server. The promise is about 1 s; the bound is generous for a busy machine. */
const LATE_MS = 5_000

const showRun = async (server: FlowServer, runId: string): Promise<FlowRun> => {
  const [run] = await server.runs([runId])
  if (run === undefined) throw new Error(`no run ${runId}`)
  return run
}

const executionsOf = (server: FlowServer, runId: string) => server.started().filter((one) => one === runId).length

describe('debounced requests, when the server is killed', () => {
  const PERIOD_MS = 5_000

  it('combines a request after the restart with those before, and executes the newest input once', async () => {
    const server = await startFlowServer()
    const send = (text: string) => server.begin('/agents/debounced/stream', { input: { key: 'doc', text } })
    const runId = await send('one')
    expect([await send('two'), await send('three')]).toEqual([runId, runId])
    expect(await server.begin('/agents/debounced/stream', { input: { key: 'other' } })).not.toBe(runId)
    await server.restart()

    const sentAt = Date.now()
    expect(await send('four')).toBe(runId)
    expect(await showRun(server, runId)).toMatchObject({ status: 'queued', startAt: expect.any(String) })
    await server.untilCompleted([runId])

    const { startAt, startedAt, result } = await showRun(server, runId)
    expect(result).toEqual({ key: 'doc', text: 'four' })
    expect(executionsOf(server, runId)).toBe(1)
    expect(timeOf(startAt)).toBeGreaterThanOrEqual(sentAt + PERIOD_MS)
    expect(timeOf(startedAt)).toBeGreaterThanOrEqual(timeOf(startAt))
    expect(timeOf(startedAt)).toBeLessThan(timeOf(startAt) + LATE_MS)
  })

  it('starts at the restart when the server was down past the start time', async () => {
    const server = await startFlowServer()
    const send = (text: string) => server.begin('/agents/briefly-debounced/stream', { input: { key: 'doc', text } })
    const runIds = [await send('one'), await send('two')]
    await server.kill('SIGKILL')
    const [runId = ''] = runIds
    expect(runIds).toEqual([runId, runId])
    expect(server.started()).toEqual([])
    await setTimeout(1_700)
    const restartedAt = Date.now()
    await server.start()
    await server.untilCompleted([runId])

    const { startedAt, result } = await showRun(server, runId)
    expect(result).toEqual({ key: 'doc', text: 'two' })
    expect(server.started()).toEqual([runId])
    expect(timeOf(startedAt)).toBeGreaterThanOrEqual(restartedAt)
    expect(timeOf(startedAt)).toBeLessThanOrEqual(Date.now())
    const next = await send('three')
    expect(next).not.toBe(runId)
    await server.untilCompleted([next])
  })
})

describe('a start time, when the server is killed', () => {
  const DELAY_MS = 4_000

  it('starts the run no earlier and soon after, and never starts a run that was aborted before', async () => {
    const server = await startFlowServer({ PERDURE_RUNS_CONCURRENCY: '1' })
    const begin = (body: object) => server.begin('/agents/free/stream', { input: {}, ...body })
    const sentAt = Date.now()
    const startAt = new Date(sentAt + DELAY_MS).toISOString()
    const delayed = [await begin({ startAt }), await begin({ delayMs: DELAY_MS })]
    const aborted = [await begin({ startAt }), await begin({ delayMs: DELAY_MS })]
    const [one, other] = aborted
    const offset = new Date(sentAt - 1_000 + 2 * 3_600_000).toISOString().replace('Z', '+02:00')
    const past = [await begin({ startAt: '2020-01-01T00:00:00Z' }), await begin({ startAt: offset })]
    await server.untilCompleted(past) // the delayed runs hold no slot
    expect((await server.post(`/runs/${one}/abort`, {})).status).toBeLessThan(300)
    const promised = await server.runs(delayed)
    expect(promised.map(({ status }) => status)).toEqual(['queued', 'queued'])
    expect(promised[0]?.startAt).toBe(startAt)
    expect(timeOf(promised[1]?.startAt)).toBeGreaterThanOrEqual(sentAt + DELAY_MS)

    await server.restart()
    const restartedAt = Date.now()
    expect((await server.post(`/runs/${other}/abort`, {})).status).toBeLessThan(300)
    await server.untilCompleted(delayed)
    await setTimeout(500) // the aborted runs would have started by now

    for (const [index, run] of (await server.runs(delayed)).entries()) {
      const dueAt = timeOf(promised[index]?.startAt)
      expect(timeOf(run.startedAt)).toBeGreaterThanOrEqual(dueAt)
      expect(timeOf(run.startedAt)).toBeLessThan(Math.max(dueAt, restartedAt) + LATE_MS)
    }
    expect((await server.runs(aborted)).map(({ status }) => status)).toEqual(['aborted', 'aborted'])
    expect(new Set(server.started())).toEqual(new Set([...past, ...delayed]))
    expect(server.started()).toHaveLength(4)
  })

  it('rejects a request with both a start time and a delay, and stores no run', async () => {
    const server = await startFlowServer()
    const body = { startAt: '2030-01-01T00:00:00Z', delayMs: 1 }

    for (const path of ['/agents/free/stream', '/workflows/per-key-steps/execute']) {
      const { status, body: refused } = await server.post(path, body)
      expect(status).toBe(400)
      expect(refused).toMatchObject({
        error: 'validation-failed',
        message: 'body: startAt and delayMs exclude each other',
      })
    }
    expect(await server.itemsOf('/runs')).toEqual([])
  })
})

describe('a request that is repeated with its idempotency key', () => {
  it('is answered with the debounced run and neither moves its start nor brings back its input, also after a kill', async () => {
    const server = await startFlowServer()
    const send = (text: string, key: string) =>
      server.begin('/agents/debounced/stream', { input: { key: 'doc', text } }, { key })
    const runId = await send('one', 'first')
    const { startAt } = await showRun(server, runId)
    await setTimeout(50)
    expect(await send('one', 'first')).toBe(runId)
    expect(await showRun(server, runId)).toMatchObject({ status: 'queued', startAt })
    await server.restart()

    expect(await send('one', 'first')).toBe(runId)
    expect(await showRun(server, runId)).toMatchObject({ status: 'queued', startAt })
    expect(await send('two', 'second')).toBe(runId)
    const moved = await showRun(server, runId)
    expect(timeOf(moved.startAt)).toBeGreaterThan(timeOf(startAt))
    await server.restart()
    expect([await send('one', 'first'), await send('two', 'second')]).toEqual([runId, runId])
    expect(await showRun(server, runId)).toMatchObject({ status: 'queued', startAt: moved.startAt })
    await server.untilCompleted([runId])

    expect((await showRun(server, runId)).result).toEqual({ key: 'doc', text: 'two' })
    expect(await send('two', 'second')).toBe(runId)
    expect(server.started()).toEqual([runId])
    expect(await server.itemsOf('/runs')).toHaveLength(1)
  })

  it('is answered with the delayed run and does not move its start, also after a kill', async () => {
    const server = await startFlowServer()
    const send = () => server.begin('/agents/free/stream', { input: {}, delayMs: 3_600_000 }, { key: 'once' })
    const runId = await send()
    const { startAt } = await showRun(server, runId)
    await setTimeout(50)
    expect(await send()).toBe(runId)
    await server.restart()
    expect(await send()).toBe(runId)

    expect(await showRun(server, runId)).toMatchObject({ status: 'queued', startAt })
    expect(await server.itemsOf('/runs')).toHaveLength(1)
    expect(server.started()).toEqual([])
  })
})
