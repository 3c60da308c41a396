import { existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createSandbox, perdure, type RunningServer, type Sandbox, startServer } from './perdure-process.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/descriptors.config.mjs')
const SERVE = ['server', '--config', CONFIG]
const withLimit = (limit: number) => ['sh', '-c', `ulimit -c 0; ulimit -n ${limit}; exec "$@"`, '--']

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const sandboxOf = (over: NodeJS.ProcessEnv = {}) => createSandbox({ NODE_DISABLE_COMPILE_CACHE: '1', ...over })
const databaseOf = ({ env }: Sandbox) => env.PERDURE_STORAGE_PATH as string

/** Starts a server under a limit on open files. Returns its stderr if the start was refused. */
async function start(sandbox: Sandbox, limit: number): Promise<RunningServer | string> {
  try {
    const server = await startServer(sandbox, SERVE, withLimit(limit))
    cleanUps.push(() => (server.process.signalCode === null ? server.kill('SIGKILL') : undefined))
    return server
  } catch (error) {
    return (error as Error).message
  }
}

async function startOrFail(sandbox: Sandbox, limit: number): Promise<RunningServer> {
  const server = await start(sandbox, limit)
  if (typeof server === 'string') throw new Error(server)
  return server
}

const REFUSED =
  /^perdure exited with 2 before it listened:\n[\s\S]*error\[descriptor-limit\]: .*\n {2}hint: .*ulimit -n/

/** One kept-alive connection of a client. */
function openKept(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  cleanUps.push(() => agent.destroy())
  const ask = (method: string, path: string, body?: unknown) =>
    new Promise<{ readonly status: number | undefined; readonly body: string }>((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      const asked = request(`${url}${path}`, { agent, method, headers }, async (response) => {
        resolve({ status: response.statusCode, body: Buffer.concat(await response.toArray()).toString() })
      })
      asked.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    })
  return { ask }
}

const RUN = { input: { text: 'x'.repeat(2_000) } }

async function runEcho({ ask }: ReturnType<typeof openKept>): Promise<string> {
  const { status, body } = await ask('POST', '/agents/echo/run', RUN)
  expect(status, body).toBe(200)
  return JSON.parse(body).runId
}

interface IdleConnection {
  readonly socket: Socket
  received(): string
  isClosed(): boolean
}

/** Opens a connection that sends nothing. */
async function openIdle(port: number): Promise<IdleConnection> {
  const socket = connect(port, '127.0.0.1')
  cleanUps.push(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
  return { socket, received: () => text, isClosed: () => socket.closed }
}

const openWebSocket = (url: string, createConnection?: () => Socket) =>
  new Promise<void>((resolve, reject) => {
    const options = createConnection === undefined ? {} : { createConnection: createConnection as never }
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['svc.protocol.v1'], options)
    cleanUps.push(() => socket.terminate())
    socket.on('open', () => resolve()).on('error', reject)
  })

describe('a start with few file descriptors', () => {
  it.each([8, 14, 20])(
    'ends and creates no database under a limit of %i, where Node.js cannot start',
    async (limit) => {
      const sandbox = sandboxOf()

      expect(await start(sandbox, limit)).toMatch(/^perdure exited with (?!0)/)
      expect(existsSync(databaseOf(sandbox))).toBe(false)
    },
  )

  it.each([24, 26, 30, 40, 64, 100])(
    'is refused under a limit of %i, with a hint and without a database',
    async (limit) => {
      const sandbox = sandboxOf()

      expect(await start(sandbox, limit)).toMatch(REFUSED)
      expect(existsSync(databaseOf(sandbox))).toBe(false)
    },
  )

  it('is refused with a hint and leaves the data intact, whatever step finds no descriptor', async () => {
    const sandbox = sandboxOf()
    const first = await startOrFail(sandbox, 1_024)
    const runId = await runEcho(openKept(first.url))
    await first.kill('SIGKILL')

    for (const free of [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 30]) {
      const { dir, env } = sandbox
      const refused = await start({ dir, env: { ...env, E2E_LEAVE_FREE: String(free) } }, 200)
      expect(refused, `${free} free descriptors`).toMatch(REFUSED)
    }

    expect(await perdure(sandbox, ['storage', 'verify', '--config', CONFIG])).toMatchObject({ code: 0 })
    const next = await startOrFail(sandbox, 1_024)
    expect((await openKept(next.url).ask('GET', `/runs/${runId}`)).status).toBe(200)
  })
})

describe('a server whose descriptors are used up by idle connections', () => {
  const LIMIT = 160

  it('refuses new connections, keeps serving, recovers, and keeps every acknowledged run', async () => {
    const sandbox = sandboxOf()
    const server = await startOrFail(sandbox, LIMIT)
    const port = Number(new URL(server.url).port)
    const kept = openKept(server.url)
    const { socket } = await openIdle(port)
    const acknowledged = [await runEcho(kept)]

    const idle = await Promise.all(Array.from({ length: 3 * LIMIT }, () => openIdle(port)))
    await expect.poll(() => idle.filter(({ isClosed }) => isClosed()).length).toBeGreaterThan(2 * LIMIT)
    const answers = idle.map(({ received }) => received()).filter((text) => text !== '')
    expect(answers.length).toBeGreaterThan(0)
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 503 .*"error":"overloaded"/s)

    // The first commits on the server's thread, the first upgrade and other modules need descriptors now.
    for (let run = 0; run < 60; run++) acknowledged.push(await runEcho(kept))
    expect(JSON.parse((await kept.ask('GET', '/health')).body).status).toBe('ok')
    expect((await kept.ask('GET', '/skills')).status).toBe(200)
    await expect(openWebSocket(server.url, () => socket)).resolves.toBeUndefined()

    for (const { socket } of idle) socket.destroy()
    await expect.poll(async () => (await fetch(`${server.url}/health/live`).catch(() => undefined))?.status).toBe(200)
    await expect(openWebSocket(server.url)).resolves.toBeUndefined()
    acknowledged.push(await runEcho(kept))
    expect(server.process.exitCode).toBeNull()
    expect(server.stderr()).toBe('')
    await server.kill('SIGKILL')

    const next = openKept((await startOrFail(sandbox, 1_024)).url)
    for (const runId of acknowledged) {
      const { status, body } = await next.ask('GET', `/runs/${runId}`)
      expect([status, JSON.parse(body).status]).toEqual([200, 'completed'])
    }
  })

  it('starts its first WebSocket after the descriptors are free again', async () => {
    const server = await startOrFail(sandboxOf(), LIMIT)
    const port = Number(new URL(server.url).port)
    const idle = await Promise.all(Array.from({ length: 3 * LIMIT }, () => openIdle(port)))
    await openWebSocket(server.url).catch(() => undefined)

    for (const { socket } of idle) socket.destroy()

    await expect
      .poll(() =>
        openWebSocket(server.url).then(
          () => 'open',
          () => 'refused',
        ),
      )
      .toBe('open')
  })
})
