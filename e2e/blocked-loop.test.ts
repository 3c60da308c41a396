import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bodyOf, createSandbox, type RunningServer, type Sandbox, startServer } from './perdure-process.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/blocking.config.mjs')
const DRAIN_MS = 1_000
/** Slack for a busy machine, where everything takes longer. Without the watchdog, the process never exits. */
const SLOWNESS = 4
const BUDGET_MS = (DRAIN_MS + 5_000) * SLOWNESS
const FORCED_MS = 2_000 * SLOWNESS
const ENDED_BY_WATCHDOG = { code: 70, signal: null }

async function start(env: NodeJS.ProcessEnv = {}, sandbox: Sandbox = createSandbox()) {
  Object.assign(sandbox.env, { PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: String(DRAIN_MS), ...env })
  const server = await startServer(sandbox, ['server', '--config', CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const gate = join(sandbox.dir, 'gate')
  const call = (method: string, path: string, body?: unknown) =>
    fetch(server.url + path, {
      ...{ method, headers: { 'content-type': 'application/json' } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  /** Starts a run that blocks once `block` is called, and returns its id. */
  const startRun = async (agent: string, input: object = {}): Promise<string> =>
    (await bodyOf(call('POST', `/agents/${agent}/stream`, { input: { gate, ...input } }))).runId
  const ready = async () => (await call('GET', '/health/ready')).status
  return { sandbox, server, call, startRun, ready, block: () => writeFileSync(gate, '') }
}

/** The lines of the watchdog, each with the indented stack that follows it. */
const reportsOf = (server: RunningServer): readonly string[] =>
  server
    .stderr()
    .split(/\n(?! )/)
    .filter((entry) => entry.includes('event loop'))

async function firstReport(server: RunningServer): Promise<string> {
  await expect.poll(() => reportsOf(server).length).toBeGreaterThan(0)
  return reportsOf(server)[0] ?? ''
}

async function exitOf({ process }: RunningServer) {
  if (process.exitCode === null && process.signalCode === null) await once(process, 'exit')
  return { code: process.exitCode, signal: process.signalCode }
}

async function timed<T>(promise: Promise<T>) {
  const beganAt = performance.now()
  return { value: await promise, tookMs: performance.now() - beganAt }
}

describe('a server whose event loop is blocked', () => {
  it('logs the blocking run, its location and the other executing runs', async () => {
    const { server, startRun, block } = await start()
    const patient = await startRun('patient')
    const spinning = await startRun('spin')
    block()

    const report = await firstReport(server)

    expect(report).toContain(`runId=${spinning} `)
    expect(report).toContain(patient)
    expect(report).toContain('blocking.config.mjs:')
  })

  it('logs the blocking run when it yields only to microtasks', async () => {
    const { server, startRun, block } = await start()
    const runId = await startRun('microtasks')
    block()

    expect(await firstReport(server)).toContain(`runId=${runId} `)
  })

  it('logs a run that blocks as soon as it starts', async () => {
    const { server, call } = await start()
    call('POST', '/agents/poison/stream', { input: {} }).catch(() => undefined)

    expect(await firstReport(server)).toMatch(/ runId=run_\w+ runIds=run_\w+ runs=1 blockedMs=\d{4,}\n/)
  })

  it.each(['spin', 'microtasks'])('exits with 70 within its time budget on SIGTERM (%s)', async (agent) => {
    const { server, startRun, block } = await start()
    const runId = await startRun(agent)
    block()
    await pause(500)

    const { value, tookMs } = await timed(server.kill('SIGTERM'))

    expect(value).toEqual(ENDED_BY_WATCHDOG)
    expect(tookMs).toBeLessThanOrEqual(BUDGET_MS)
    expect(reportsOf(server).at(-1)).toContain(`runId=${runId} `)
  })

  it('exits within two seconds of a second signal', async () => {
    const { server, startRun, block } = await start({ PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: '600000' })
    await startRun('spin')
    block()
    await firstReport(server)
    server.process.kill('SIGINT')
    await pause(500)

    const { value, tookMs } = await timed(server.kill('SIGTERM'))

    expect(value).toEqual(ENDED_BY_WATCHDOG)
    expect(tookMs).toBeLessThanOrEqual(FORCED_MS)
  })

  it('exits within its time budget when the event loop is blocked only after the signal', async () => {
    const { server, startRun, ready, block } = await start({ PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: '4000' })
    await startRun('spin')
    const ended = timed(server.kill('SIGTERM'))
    await expect.poll(ready).toBe(503)
    block()

    const { value, tookMs } = await ended

    expect(value).toEqual(ENDED_BY_WATCHDOG)
    expect(tookMs).toBeLessThanOrEqual(9_000 * SLOWNESS)
  })

  it('exits when the code of a run blocks the stop that follows a crash', async () => {
    const sandbox = createSandbox()
    const crash = join(sandbox.dir, 'crash')
    const { server, startRun } = await start({ E2E_CRASH: crash }, sandbox)
    const runId = await startRun('blocks-when-aborted')
    writeFileSync(crash, '')

    const { value, tookMs } = await timed(exitOf(server))

    expect(value).toEqual(ENDED_BY_WATCHDOG)
    expect(tookMs).toBeLessThanOrEqual(FORCED_MS)
    expect(reportsOf(server).at(-1)).toContain(runId)
  })

  it('exits with 70 without a signal after runs.maxBlockMs, and fails the run as interrupted at the next start', async () => {
    const { sandbox, server, startRun, block } = await start({ PERDURE_RUNS_MAX_BLOCK_MS: '1000' })
    const runId = await startRun('spin')
    block()

    expect(await exitOf(server)).toEqual(ENDED_BY_WATCHDOG)
    const reports = reportsOf(server)
    expect(reports).toEqual([expect.stringContaining('runs.maxBlockMs')])
    expect(reports[0]).toContain(`runId=${runId} `)

    const { call } = await start({}, sandbox)
    expect(await (await call('GET', `/runs/${runId}`)).json()).toMatchObject({
      ...{ status: 'failed', finishReason: 'interrupted' },
    })
  })

  it('ends a run that blocks at every attempt after its last attempt', async () => {
    const sandbox = createSandbox()
    const env = { PERDURE_RUNS_MAX_BLOCK_MS: '1000' }
    const first = await start(env, sandbox)
    first.call('POST', '/agents/poison/stream', { input: {} }).catch(() => undefined)
    expect(await exitOf(first.server)).toEqual(ENDED_BY_WATCHDOG)
    // The server starts the run again before it listens, so the watchdog may end it before it has printed its address.
    const ended = async () => {
      const starting = await start(env, sandbox).catch((error: Error) => error)
      if (!(starting instanceof Error)) return exitOf(starting.server)
      expect(starting.message).toContain('exited with 70 before it listened')
      return ENDED_BY_WATCHDOG
    }
    for (const _attempt of [2, 3]) expect(await ended()).toEqual(ENDED_BY_WATCHDOG)

    const { call, ready } = await start(env, sandbox)
    const { items } = (await (await call('GET', '/runs')).json()) as { readonly items: readonly object[] }

    expect(items).toMatchObject([{ status: 'failed', attempt: 3, error: { code: 'attempts-exhausted' } }])
    await pause(2_000)
    expect(await ready()).toBe(200)
  })

  it('continues when the code returns after seven seconds, and is ready again later', async () => {
    const { server, call, startRun, ready, block } = await start()
    const runId = await startRun('busy', { ms: 7_000 })
    block()
    await pause(200)

    expect(await ready()).toBe(503)
    // The run may still be committing its result when the loop answers again.
    await expect
      .poll(async () => (await call('GET', `/runs/${runId}`)).json())
      .toMatchObject({ status: 'completed', result: 'returned' })
    await expect.poll(ready).toBe(200)
    expect(reportsOf(server)).toHaveLength(1)
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(reportsOf(server)).toHaveLength(1)
  })

  it('drains when the code returns within the time budget after a signal', async () => {
    const { server, startRun, block } = await start({ PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: '30000' })
    await startRun('busy', { ms: 3_000 })
    block()
    await pause(200)

    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(reportsOf(server)).toEqual([])
  })
})

describe('a server whose process is suspended', () => {
  it('neither logs nor exits when it continues after eight seconds', async () => {
    const { server, call, ready } = await start({ PERDURE_RUNS_MAX_BLOCK_MS: '3000' })
    expect((await call('POST', '/agents/echo/run', { input: 1 })).status).toBe(200)
    await pause(1_000)
    server.process.kill('SIGSTOP')
    await pause(8_000)
    server.process.kill('SIGCONT')
    await pause(2_000)

    expect(await ready()).toBe(200)
    expect(reportsOf(server)).toEqual([])
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})
