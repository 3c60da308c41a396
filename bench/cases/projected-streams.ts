import { JSON_HEADERS, startPerdure } from '../harness/perdure.ts'
import type { Comparison } from '../harness/rounds.ts'
import { inFolder, type ServerProcess } from '../harness/server-process.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const EVENTS = 2_000
/** Runs per measurement with this many readers each, so that a measurement has about 40,000 deliveries. */
const SHAPES = [
  { readers: 1, runs: 20 },
  { readers: 20, runs: 1 },
] as const
/** The run waits until its readers have connected. */
const DELAY_MS = 400
const WARM_UPS = 3
const LIMITS = { PERDURE_RUNS_CONCURRENCY: '1000', PERDURE_REALTIME_MAX_SSE_STREAMS_PER_TOKEN: '1000' }

/** One reader of a run: the words that it received. */
type Reading = Promise<number>

/** How a client starts a run of the agent, and how others follow it. */
interface Stream {
  readonly title: string
  /** Starts a run, reads it, and returns how another reader follows it. */
  start(server: ServerProcess, run: string): Promise<{ readonly first: Reading; readonly follow: () => Reading }>
}

const SETTINGS = { events: EVENTS, delayMs: DELAY_MS }

async function request({ port }: ServerProcess, path: string, body?: object): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { ...JSON_HEADERS, Accept: 'text/event-stream' },
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response
}

/** Counts the deltas of a response. */
async function wordsIn(response: Response): Reading {
  let words = 0
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    words += decoder.decode(bytes, { stream: true }).split('"delta":').length - 1
  }
  return words
}

const read = async (server: ServerProcess, path: string): Reading => wordsIn(await request(server, path))

const PLAIN: Stream = {
  title: 'plain',
  async start(server) {
    const response = await request(server, '/agents/talk/stream', { input: SETTINGS })
    const runId = response.headers.get('location')?.split('/').at(-1) ?? response.headers.get('x-perdure-run-id')
    return { first: wordsIn(response), follow: () => read(server, `/runs/${runId}/events`) }
  },
}

const aiSdk = (version: number): Stream => ({
  title: `AI SDK ${version}`,
  async start(server, run) {
    const id = `v${version}-${run}`
    const messages = [{ id, role: 'user', parts: [{ type: 'text', text: 'x' }] }]
    const response = await request(server, `/agents/talk/chat?v=${version}`, { id, messages, ...SETTINGS })
    return {
      first: wordsIn(response),
      follow: () => read(server, `/agents/talk/chat/${id}/stream?v=${version}`),
    }
  },
})

const AG_UI: Stream = {
  title: 'AG-UI',
  async start(server, run) {
    const messages = [{ id: 'm1', role: 'user', content: 'x' }]
    const body = { threadId: run, runId: run, messages, forwardedProps: SETTINGS }
    const response = await request(server, '/agents/talk/ag-ui', body)
    return { first: wordsIn(response), follow: () => read(server, `/agents/talk/ag-ui/${run}`) }
  },
}

const PROJECTED = [aiSdk(6), aiSdk(7), AG_UI]
let started = 0

/** Processor time of the server per delta and reader, in microseconds. */
async function costOf(server: ServerProcess, stream: Stream, { readers, runs }: (typeof SHAPES)[number]) {
  const before = server.cpuMicros()
  const reading = Array.from({ length: runs }, async () => {
    started += 1
    const { first, follow } = await stream.start(server, `bench-${started}`)
    const all = [first, ...Array.from({ length: readers - 1 }, follow)]
    return (await Promise.all(all)).reduce((sum, words) => sum + words, 0)
  })
  const words = (await Promise.all(reading)).reduce((sum, one) => sum + one, 0)
  const expected = EVENTS * readers * runs
  // The count misses the few deltas that two chunks split.
  if (words < expected * 0.98) throw new Error(`${stream.title} delivered ${words} of ${expected} deltas`)
  return (server.cpuMicros() - before) / expected
}

async function compared(server: ServerProcess, { rounds }: Effort): Promise<readonly Comparison[]> {
  const rows: Comparison[] = []
  for (const shape of SHAPES) {
    for (let warmUp = 0; warmUp < WARM_UPS; warmUp++) {
      for (const stream of [PLAIN, ...PROJECTED]) await costOf(server, stream, shape)
    }
    const floor: number[] = []
    const subjects = PROJECTED.map((stream) => ({ stream, figures: [] as number[] }))
    for (let round = 0; round < rounds; round++) {
      floor.push(await costOf(server, PLAIN, shape))
      for (const { stream, figures } of subjects) figures.push(await costOf(server, stream, shape))
    }
    const readers = shape.readers === 1 ? 'one reader per run' : `${shape.readers} readers of one run`
    for (const { stream, figures } of subjects) {
      rows.push({
        ...{ case: 'F18', variant: `${stream.title}, ${readers}`, unit: 'CPU µs' },
        ...{ floor, subject: figures, goal: { atMost: 1.5 } },
      })
    }
  }
  return rows
}

/** What a stream in the form of another protocol costs, compared with the stream of the same events. */
export const projectedStreams: BenchCase = {
  id: 'F18',
  title: `${EVENTS} text deltas, streamed in the form of a protocol; the floor is Perdure's own stream`,
  run: (effort) =>
    inFolder(async (folder) => {
      const server = await startPerdure({ folder, env: LIMITS })
      try {
        return await compared(server, effort)
      } finally {
        await server.stop('SIGKILL')
      }
    }),
}
