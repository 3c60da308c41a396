import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { bearer, createSandbox, createToken, REALTIME_CONFIG, startServer } from './perdure-process.ts'
import { followByWebSocket, gapsOf, idsOf } from './realtime-client.ts'
import { residentMiB } from './resident-mib.ts'

/** E2E_READERS_SCALE=10 runs a longer test: 900 fast readers and 100 slow ones. */
const SCALE = Number(process.env.E2E_READERS_SCALE ?? 1)
const QUICK = 90 * SCALE
const SLOW = 10 * SCALE
const RUNS = 10
const EVENTS = 100
const SIZE = 16_000
/** A reader that does not even read the close frame only sees the connection end. */
const CUT_OFF = [4006, 1006]
const SUBJECT = 'session:hall/events'
const PATH = '/sessions/hall/events'

const wholeMiB = (pid: number | undefined) => Math.round(residentMiB(pid))

interface SlowReader {
  readonly subscribed: Promise<void>
  readonly closed: Promise<number>
  readonly ids: readonly string[]
  /** Reads everything that was sent, until the connection ends. */
  wake(): void
}

/** Subscribes, from an event on if given, then reads nothing from its socket until it is resumed. */
function openSlowReader(url: string, token: string, lastEventId?: string): SlowReader {
  const { promise: subscribed, resolve } = Promise.withResolvers<void>()
  const { promise: closed, resolve: close } = Promise.withResolvers<number>()
  const ids: string[] = []
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['svc.protocol.v1'], { headers: bearer(token) })
  const send = (id: number, method: string, params: object) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  socket.on('open', () => {
    send(1, 'initialize', {})
    send(2, 'subscription.subscribe', { subject: SUBJECT, ...(lastEventId === undefined ? {} : { lastEventId }) })
  })
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data))
    if (frame.kind === 'event') ids.push(frame.eventId)
    if (frame.id !== 2) return
    socket.pause()
    resolve()
  })
  socket.on('close', close)
  return { subscribed, closed, ids, wake: () => socket.resume() }
}

describe('a reader that stops reading', () => {
  it('is disconnected and resumes from its cursor, while the other readers receive everything', async () => {
    const sandbox = createSandbox({
      PERDURE_REALTIME_WEB_SOCKET_MAX_CONNECTIONS_PER_TOKEN: '2000',
      PERDURE_SERVER_MAX_CONNECTIONS_PER_ADDRESS: '2000',
    })
    const token = await createToken(sandbox)
    const server = await startServer(sandbox, ['server', '--config', REALTIME_CONFIG])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const runChatter = async (count: number, size: number) => {
      const body = JSON.stringify({ sessionId: 'hall', input: { count, size } })
      const answer = await fetch(`${server.url}/agents/chatter/run`, { method: 'POST', headers: bearer(token), body })
      expect(answer.status, await answer.text()).toBe(200)
    }
    await runChatter(1, 0)

    const options = { url: () => server.url, token, subject: SUBJECT, path: PATH }
    const quick = Array.from({ length: QUICK }, () => followByWebSocket(options))
    const slow = Array.from({ length: SLOW }, () => openSlowReader(server.url, token))
    await Promise.all([...quick.map(({ following }) => following), ...slow.map(({ subscribed }) => subscribed)])
    const before = wholeMiB(server.process.pid)
    const countOf = (reader: (typeof quick)[number]) => idsOf(reader).length
    const perRun = EVENTS + 2
    for (let run = 1; run <= RUNS; run++) {
      await runChatter(EVENTS, SIZE)
      // Wait until all fast readers have caught up, however slow the machine is.
      await expect.poll(() => quick.filter((reader) => countOf(reader) < run * perRun).length).toBe(0)
    }
    const [first] = quick.map(idsOf)
    for (const reader of quick) {
      expect(idsOf(reader)).toEqual(first)
      expect([gapsOf(reader), reader.connections()]).toEqual([0, 1])
    }
    expect(new Set(first).size).toBe(first?.length)
    for (const reader of quick) await reader.stop()
    const connections = async () =>
      /^svc_ws_connections (\d+)$/m.exec(
        await (await fetch(`${server.url}/metrics`, { headers: bearer(token) })).text(),
      )?.[1]
    await expect.poll(connections).toBe('0')

    for (const { wake } of slow) wake()
    for (const code of await Promise.all(slow.map(({ closed }) => closed))) expect(CUT_OFF).toContain(code)
    const after = wholeMiB(server.process.pid)
    for (const { ids } of slow) expect(ids).toEqual(first?.slice(0, ids.length))

    const cursor = slow[0]?.ids.at(-1)
    const again = followByWebSocket({ ...options, ...(cursor === undefined ? {} : { lastEventId: cursor }) })
    onTestFinished(() => again.stop())
    const rest = first?.slice(slow[0]?.ids.length) ?? []
    await expect.poll(() => countOf(again)).toBe(rest.length)
    expect([idsOf(again), gapsOf(again)]).toEqual([rest, 0])
    expect(rest.length).toBeGreaterThan(0)
    console.log(
      `slow readers received ${slow.map(({ ids }) => ids.length)} of ${first?.length}; ${before} → ${after} MiB`,
    )
  })
})

describe('a client that reads none of its answers', () => {
  const REQUESTS: readonly (readonly [method: string, path: string])[] = [
    ['POST', '/sessions/hall/replay'],
    ['GET', '/openapi.json'],
  ]
  /** More bytes of answers than the operating system buffers. */
  const REPEATS = 60

  async function startWithEvents(env: NodeJS.ProcessEnv) {
    const sandbox = createSandbox(env)
    const token = await createToken(sandbox)
    const server = await startServer(sandbox, ['server', '--config', REALTIME_CONFIG])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    for (let run = 0; run < 16; run++) {
      const body = JSON.stringify({ sessionId: 'hall', input: { count: EVENTS, size: SIZE } })
      const answer = await fetch(`${server.url}/agents/chatter/run`, { method: 'POST', headers: bearer(token), body })
      expect(answer.status, await answer.text()).toBe(200)
    }
    const descriptors = () => readdirSync(`/proc/${server.process.pid}/fd`).length
    return { server, token, descriptors }
  }
  type Started = Awaited<ReturnType<typeof startWithEvents>>

  function sendAndNeverRead({ server, token }: Started, [method, path]: (typeof REQUESTS)[number]) {
    const { port, pathname } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    const fields = ['Host: 127.0.0.1', `Authorization: Bearer ${token}`, 'Accept: application/json']
    if (method === 'POST') fields.push('Content-Type: application/json', 'Content-Length: 2')
    const request = [`${method} ${pathname}${path} HTTP/1.1`, ...fields, '', method === 'POST' ? '{}' : ''].join('\r\n')
    socket.write(request.repeat(REPEATS))
  }

  it('is disconnected, whatever it asked for', async () => {
    const started = await startWithEvents({ PERDURE_SERVER_WRITE_TIMEOUT_MS: '1000' })
    const before = started.descriptors()
    const residentBefore = wholeMiB(started.server.process.pid)

    for (const asked of REQUESTS) sendAndNeverRead(started, asked)
    await expect.poll(started.descriptors).toBeGreaterThanOrEqual(before + REQUESTS.length)
    await expect.poll(started.descriptors, { timeout: 30_000 }).toBeLessThanOrEqual(before)

    console.log(`${residentBefore} → ${wholeMiB(started.server.process.pid)} MiB`)
    const { server, token } = started
    expect((await fetch(`${server.url}/runs`, { headers: bearer(token) })).status).toBe(200)
  })

  it('does not delay a shutdown', async () => {
    const started = await startWithEvents({ PERDURE_SERVER_WRITE_TIMEOUT_MS: '600000' })
    const before = started.descriptors()
    for (const asked of REQUESTS) sendAndNeverRead(started, asked)
    await expect.poll(started.descriptors).toBeGreaterThanOrEqual(before + REQUESTS.length)

    expect(await started.server.kill('SIGTERM')).toMatchObject({ code: 0 })
  })

  it('is disconnected when it replays events over a WebSocket', async () => {
    const { server, token } = await startWithEvents({ PERDURE_REALTIME_STALL_MS: '500' })
    const first = await firstEventId(server.url, token)
    const slow = openSlowReader(server.url, token, first)
    await slow.subscribed
    const connections = async () =>
      /^svc_ws_connections (\d+)$/m.exec(
        await (await fetch(`${server.url}/metrics`, { headers: bearer(token) })).text(),
      )?.[1]

    await expect.poll(connections).toBe('0')
  })

  /** The id of the first event of the session. */
  async function firstEventId(url: string, token: string): Promise<string> {
    const headers = { ...bearer(token), accept: 'application/json' }
    const answer = await fetch(`${url}/sessions/hall/replay`, { method: 'POST', headers, body: '{"limit":1}' })
    const { items } = (await answer.json()) as { readonly items: readonly { readonly eventId: string }[] }
    return items[0]?.eventId ?? expect.fail('the session has no event')
  }
})
