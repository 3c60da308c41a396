import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { fillOldDatabase, NEW_VERSION, OLD_ROWS, OLD_VERSION, objectsThrough, schemaOf } from './old-database.ts'
import {
  BINARY,
  bearer,
  bodyOf,
  createSandbox,
  createToken,
  LEDGER_CONFIG,
  REALTIME_CONFIG,
  type RunningServer,
  type Sandbox,
  startServer,
} from './perdure-process.ts'

const RUNS = 50
/** Slack for a busy machine, where the process exits later; unit tests with a manual clock check the exact times. */
const SLOWNESS = 4
/** Time the shutdown takes beyond the drain timeout. */
const BEYOND_DRAIN_MS = 5_000 * SLOWNESS
/** Time until exit after a second signal. */
const FORCED_MS = 2_000 * SLOWNESS

async function start(drainTimeoutMs: number) {
  const sandbox = createSandbox({
    ...{ PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: String(drainTimeoutMs), PERDURE_AUTH_KIND: 'none' },
  })
  const server = await startServer(sandbox)
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const call = (method: string, path: string, body?: unknown) =>
    fetch(server.url + path, {
      ...{ method, headers: { 'content-type': 'application/json' } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const running = async (agent: string) => (await bodyOf(call('GET', `/agents/${agent}/state`))).running
  return { sandbox, server, call, running }
}

/** How the process exited after the signal, and after how many milliseconds. */
async function stopTimed(server: RunningServer) {
  const beganAt = performance.now()
  const { code } = await server.kill('SIGTERM')
  return { code, tookMs: performance.now() - beganAt }
}

interface Outcome {
  readonly status: string
  readonly finish_reason: string | null
}

/** The status of every run in the database. */
function outcomesIn({ env }: Sandbox): readonly Outcome[] {
  const database = new DatabaseSync(env.PERDURE_STORAGE_PATH ?? '', { readOnly: true })
  const rows = database.prepare('SELECT status, finish_reason FROM runs').all()
  database.close()
  return rows.map((row) => ({ ...row })) as unknown as readonly Outcome[]
}

describe('a server that receives a stop signal', () => {
  it('completes and answers fifty slow runs and exits 0', async () => {
    const { sandbox, server, call, running } = await start(120_000)
    const gate = join(sandbox.dir, 'gate')
    const answers = Promise.all(
      Array.from({ length: RUNS }, () => bodyOf(call('POST', '/agents/gated/run', { input: { gate } }))),
    )
    await expect.poll(() => running('gated')).toBe(RUNS)

    const ended = server.kill('SIGTERM')
    await expect.poll(async () => (await call('GET', '/health/ready')).status).toBe(503)
    writeFileSync(gate, '')

    expect((await ended).code).toBe(0)
    expect((await answers).map(({ status }) => status)).toEqual(Array(RUNS).fill('completed'))
  })

  it('aborts fifty runs that ignore their signal and exits within its time budget', async () => {
    const drainTimeoutMs = 500
    const { sandbox, server, call, running } = await start(drainTimeoutMs)
    await Promise.all(Array.from({ length: RUNS }, () => call('POST', '/agents/deaf/stream', {})))
    expect(await running('deaf')).toBe(RUNS)

    const { code, tookMs } = await stopTimed(server)

    expect(code).toBe(0)
    expect(tookMs).toBeGreaterThanOrEqual(drainTimeoutMs)
    expect(tookMs).toBeLessThanOrEqual(drainTimeoutMs + BEYOND_DRAIN_MS)
    expect(outcomesIn(sandbox)).toEqual(Array(RUNS).fill({ status: 'aborted', finish_reason: 'shutdown' }))
  })

  it('exits within two seconds of a second signal and keeps its state', async () => {
    const { sandbox, server, call, running } = await start(60_000)
    await Promise.all(Array.from({ length: RUNS }, () => call('POST', '/agents/deaf/stream', {})))
    expect(await running('deaf')).toBe(RUNS)
    server.process.kill('SIGTERM')
    await expect.poll(async () => (await call('GET', '/health/ready')).status).toBe(503)

    // A second signal right after the first counts as the same request.
    const again = setInterval(() => server.process.kill('SIGTERM'), 100)
    onTestFinished(() => clearInterval(again))
    const { code, tookMs } = await stopTimed(server)

    expect(code).toBe(1)
    expect(tookMs).toBeLessThanOrEqual(FORCED_MS)
    await (await startServer(sandbox)).kill('SIGTERM')
    const outcomes = outcomesIn(sandbox)
    expect(outcomes).toHaveLength(RUNS)
    for (const { status, finish_reason: reason } of outcomes) {
      // Either the stopping process aborted the run, or the next process found the run interrupted.
      expect([status, reason]).toEqual(reason === 'shutdown' ? ['aborted', reason] : ['failed', 'interrupted'])
    }
  })

  it('refuses a flood of new requests, still serves reads, and shuts down in time', async () => {
    const drainTimeoutMs = 5_000
    const { server, call, running } = await start(drainTimeoutMs)
    const { runId } = await bodyOf(call('POST', '/agents/deaf/stream', {}))
    expect(await running('deaf')).toBe(1)

    const stopped = stopTimed(server)
    await expect.poll(async () => (await call('GET', '/health/ready')).status).toBe(503)
    const read = await call('GET', `/runs/${runId}`)
    const refusals: unknown[] = []
    const client = async () => {
      for (let n = 0; n < 2_000; n++) {
        const answer = await call('POST', '/agents/ledger/run', { input: { name: 'late' } }).catch(() => undefined)
        if (answer === undefined) return
        const retryAfter = answer.headers.get('retry-after')
        refusals.push([answer.status, (await bodyOf(answer)).error, retryAfter !== null])
      }
    }
    await Promise.all(Array.from({ length: 16 }, client))
    const { code, tookMs } = await stopped

    expect(read.status).toBe(200)
    expect(refusals.length).toBeGreaterThan(16)
    expect(new Set(refusals.map((refusal) => JSON.stringify(refusal)))).toEqual(
      new Set([JSON.stringify([503, 'server-draining', true])]),
    )
    expect(code).toBe(0)
    expect(tookMs).toBeLessThanOrEqual(drainTimeoutMs + BEYOND_DRAIN_MS)
  })

  it('closes a thousand WebSockets with 4007 and ends a hundred streams', async () => {
    const drainTimeoutMs = 0
    const sandbox = createSandbox({
      PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: String(drainTimeoutMs),
      PERDURE_SERVER_MAX_CONNECTIONS_PER_ADDRESS: '2000',
      PERDURE_REALTIME_MAX_SSE_STREAMS_PER_TOKEN: '200',
    })
    const token = await createToken(sandbox)
    const server = await startServer(sandbox, ['server', '--config', REALTIME_CONFIG])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const codes: number[] = []
    const connect = () =>
      new Promise<void>((resolve, reject) => {
        const url = `${server.url.replace('http', 'ws')}/ws`
        const socket = new WebSocket(url, 'svc.protocol.v1', { headers: bearer(token) })
        socket.on('open', () => socket.send('{"jsonrpc":"2.0","id":1,"method":"initialize"}'))
        socket.once('message', () => resolve())
        socket.on('error', reject)
        socket.on('close', (code) => codes.push(code))
      })
    const openStream = async () => {
      const response = await fetch(`${server.url}/sessions/idle/events`, { headers: bearer(token) })
      return { status: response.status, ended: response.text().then(() => 'ended') }
    }
    await fetch(`${server.url}/sessions`, { method: 'POST', headers: bearer(token), body: '{"id":"idle"}' })
    const streams = await Promise.all(Array.from({ length: 100 }, openStream))
    for (let batch = 0; batch < 10; batch++) await Promise.all(Array.from({ length: 100 }, connect))
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))

    const { code, tookMs } = await stopTimed(server)

    expect(code).toBe(0)
    expect(tookMs).toBeLessThanOrEqual(drainTimeoutMs + BEYOND_DRAIN_MS)
    await expect.poll(() => codes.length).toBe(1_000)
    expect(new Set(codes)).toEqual(new Set([4007]))
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(Array(100).fill('ended'))
  })
})

describe('a server that is stopped during a migration', () => {
  const walBytes = (path: string) => (existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0)
  /** Moments of a migration that are visible from outside; each lasts long enough to be observed. */
  const MOMENTS = {
    'copies the file': (path: string) =>
      ['.tmp', ''].some((end) => existsSync(`${path}.before-${OLD_VERSION + 1}${end}`)),
    'writes the new schema': (path: string) => walBytes(path) > 4 * 1024 * 1024,
  }

  it.each([
    ['SIGTERM', 'copies the file'],
    ['SIGTERM', 'writes the new schema'],
    ['SIGKILL', 'writes the new schema'],
  ] as const)('leaves a complete schema, old or newer, after %s while it %s', async (signal, moment) => {
    const sandbox = createSandbox()
    const path = sandbox.env.PERDURE_STORAGE_PATH ?? ''
    fillOldDatabase(path)
    const server = spawn(process.execPath, [BINARY, 'server', '--config', LEDGER_CONFIG], {
      ...{ env: sandbox.env, cwd: sandbox.dir, stdio: 'ignore' },
    })
    onTestFinished(() => void server.kill('SIGKILL'))
    const exited = once(server, 'exit')
    const isNow = MOMENTS[moment]
    await expect.poll(() => isNow(path), { interval: 1 }).toBe(true)

    server.kill(signal)
    expect(await exited).toEqual(signal === 'SIGTERM' ? [0, null] : [null, 'SIGKILL'])

    const { version, applied, objects, integrity, rows } = schemaOf(path)
    expect({ applied, integrity, rows }).toEqual({ applied: version, integrity: 'ok', rows: OLD_ROWS })
    expect(version).toBeGreaterThanOrEqual(OLD_VERSION)
    expect(objects).toEqual(objectsThrough(version))
    if (signal === 'SIGTERM') return expect(version).toBe(NEW_VERSION)

    await (await startServer(sandbox)).kill('SIGTERM')
    expect(schemaOf(path)).toMatchObject({ version: NEW_VERSION, integrity: 'ok', rows: OLD_ROWS })
  })
})
