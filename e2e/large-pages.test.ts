import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  bearer,
  createSandbox,
  createToken,
  isOnPostgres,
  OPS_CONFIG,
  REALTIME_CONFIG,
  startServer,
} from './perdure-process.ts'

const RUNS = 80
const READERS = 8
const IDLE_READERS = 2
const TEXT = 'z'.repeat(1_048_000) // of the input, and again of the result
const PATH = '/runs?limit=200&include=input,result'
const MIB = 1_048_576
/** The memory that the server may add while the clients read. Buffers of a connection to PostgreSQL are freed late. */
const MAX_GROWTH_MIB = isOnPostgres ? 150 : 64

interface Target {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

async function startRuns({ url, headers }: Target): Promise<void> {
  const body = JSON.stringify({ input: TEXT })
  for (let run = 0; run < RUNS; run++) {
    const answer = await fetch(`${url}/agents/echo/run`, { method: 'POST', headers, body })
    expect([answer.status, (await answer.arrayBuffer()).byteLength > TEXT.length]).toEqual([200, true])
  }
}

/** Loop delay (99th percentile since the last call, in milliseconds) and resident memory (in MiB). */
async function vitals({ url, headers }: Target) {
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    loopMs: gauge('svc_event_loop_delay_seconds') * 1_000,
    residentMiB: gauge('svc_process_resident_memory_bytes') / MIB,
  }
}

/** Sends a request and never reads its answer. */
function openIdleReader({ url, headers }: Target): Socket {
  const { hostname, port, pathname } = new URL(`${url}/runs`)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  const query = PATH.slice(PATH.indexOf('?'))
  socket.pause()
  socket.write(
    `GET ${pathname}${query} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: ${headers.authorization}\r\n\r\n`,
  )
  return socket
}

/** Follows the cursors and returns the id of each run that arrived with its whole content. */
async function readAll({ url, headers }: Target): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await fetch(`${url}${PATH}${next}`, { headers })
    const page = (await answer.json()) as {
      items: { id: string; input: unknown; result: unknown }[]
      nextCursor: string | null
    }
    for (const { id, input, result } of page.items) if (input === TEXT && result === TEXT) ids.push(id)
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids
}

describe('runs with 2 MiB of content', () => {
  it('can be paged through by ten clients, two of which never read, without blocking or filling the server', async () => {
    const sandbox = createSandbox()
    const headers = bearer(await createToken(sandbox))
    const first = await startServer(sandbox, ['server', '--config', OPS_CONFIG])
    onTestFinished(() => void first.process.kill('SIGKILL'))
    await startRuns({ url: first.url, headers })
    await first.kill('SIGTERM')
    // A new process: what the server kept from the requests that started the runs would count as well.
    const server = await startServer(sandbox, ['server', '--config', OPS_CONFIG])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const target = { url: server.url, headers }
    await (await fetch(`${server.url}/runs?limit=2&include=input,result`, { headers })).arrayBuffer()
    const before = await vitals(target)

    const idle = Array.from({ length: IDLE_READERS }, () => openIdleReader(target))
    const readers = Array.from({ length: READERS }, () => readAll(target))
    const samples = [before]
    const reading = Promise.all(readers)
    let isReading = true
    const sampling = (async () => {
      while (isReading) {
        await new Promise((resolve) => setTimeout(resolve, 250))
        samples.push(await vitals(target))
      }
    })()
    const read = await reading
    isReading = false
    await sampling

    for (const ids of read) expect([ids.length, new Set(ids).size]).toEqual([RUNS, RUNS])
    expect(idle.map(({ destroyed }) => destroyed)).toEqual(idle.map(() => false))
    for (const socket of idle) socket.destroy()
    const [, ...during] = samples
    const growth = Math.max(...during.map(({ residentMiB }) => residentMiB)) - before.residentMiB
    const slowest = Math.max(...during.map(({ loopMs }) => loopMs))
    if (process.env.E2E_FIGURES !== undefined) console.log({ slowestLoopMs: slowest, growthMiB: growth })
    expect(growth).toBeLessThan(MAX_GROWTH_MIB)
    expect(slowest).toBeLessThan(1_000)
  }, 300_000)
})

describe('a page of 4 MiB of events that the server sanitizes', () => {
  const EVENTS = 40
  const SENTENCE = 'The quick fox jumps over 12 dogs: naps. '
  const SENTENCES = 2_500
  const PAGES = 10

  it('is sent without blocking the requests of other clients', async () => {
    const sandbox = createSandbox()
    const headers = bearer(await createToken(sandbox))
    const server = await startServer(sandbox, ['server', '--config', REALTIME_CONFIG])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const target = { url: server.url, headers }
    const input = { count: EVENTS, size: SENTENCES, text: SENTENCE, type: 'reasoning.delta' }
    const body = JSON.stringify({ sessionId: 'hall', input })
    const run = await fetch(`${server.url}/agents/chatter/run`, { method: 'POST', headers, body })
    const { runId } = (await run.json()) as { readonly runId: string }
    await vitals(target)

    for (let page = 0; page < PAGES; page++) {
      const answer = await fetch(`${server.url}/runs/${runId}/events?limit=200`, { headers })
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(EVENTS * SENTENCES * SENTENCE.length)
    }
    const { loopMs } = await vitals(target)

    if (process.env.E2E_FIGURES !== undefined) console.log({ loopMs })
    expect(loopMs).toBeLessThan(500)
  })
})
