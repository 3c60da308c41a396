import { type Cores, coresOf } from '../harness/cores.ts'
import { largest } from '../harness/largest.ts'
import { JSON_HEADERS, startShipped } from '../harness/perdure.ts'
import type { Comparison, LoadCost } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startFloor } from '../harness/server-process.ts'
import { readStreams } from '../harness/streams.ts'
import type { BenchCase, Effort } from './bench-case.ts'
import { pause } from './fan-out.ts'

const TOKEN = 'floor_token_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST'
const PER_SECOND = 50
const MOST_P99_MS = 100
const LEAST_SHARE = 0.98
const FIRST = 25
/** Where the search ends; BENCH_MOST_STREAMS shortens it. */
const MOST = Number(process.env.BENCH_MOST_STREAMS ?? 6_400)
const WARM_UP_STREAMS = Math.min(50, MOST)
const WARM_UP_MS = 4_000
const START_OVER_MS = 1_000
const SETTLE_MS = 2_000
const SAMPLE_MS = 100
const KIBIBYTE = 1_024

/** The default limits would refuse the streams. */
const LIMITS = {
  PERDURE_RUNS_CONCURRENCY: '20000',
  PERDURE_SERVER_MAX_CONNECTIONS_PER_ADDRESS: '20000',
  PERDURE_REALTIME_MAX_SSE_STREAMS: '20000',
  PERDURE_REALTIME_MAX_SSE_STREAMS_PER_TOKEN: '20000',
}

interface Target {
  readonly server: ServerProcess
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

interface Kind {
  readonly title: string
  readonly cores: Cores
  readonly start: (folder: string) => Promise<Target>
}

const coresText = ({ count }: Cores) => (count === 1 ? 'one core' : 'two cores')

const floorOn = (cores: Cores): Kind => ({
  title: `floor, ${coresText(cores)}`,
  cores,
  async start(folder) {
    const env = { FLOOR_DATABASE: `${folder}/floor.db`, FLOOR_TOKEN: TOKEN }
    const server = await startFloor('busy-streams', env, cores.server)
    return { server, path: '/', headers: { ...JSON_HEADERS, Authorization: `Bearer ${TOKEN}` } }
  },
})

const perdureOn = (cores: Cores): Kind => ({
  title: `Perdure, ${coresText(cores)}`,
  cores,
  start: async (folder) => ({
    ...(await startShipped({ folder, env: LIMITS, cpus: cores.server })),
    path: '/v1/agents/model/stream',
  }),
})

/** Runs this many streams at once and reads them to their end. */
function stream({ server: { port }, path, headers }: Target, cores: Cores, [streams, durationMs]: [number, number]) {
  const body = JSON.stringify({ input: { perSecond: PER_SECOND, durationMs } })
  const times = { startOverMs: START_OVER_MS, countForMs: durationMs + MOST_P99_MS }
  return readStreams({ ...{ port, path, headers, body, streams }, ...times }, cores.load)
}

const durationOf = ({ isQuick }: Effort) => (isQuick ? 5_000 : 20_000)

/** Uses a warm server on an empty database. */
const withServer = <T>({ start, cores }: Kind, use: (target: Target) => Promise<T>): Promise<T> =>
  inFolder(async (folder) => {
    const target = await start(folder)
    try {
      await stream(target, cores, [WARM_UP_STREAMS, WARM_UP_MS])
      return await use(target)
    } finally {
      // A server that fell behind would first finish its runs.
      await target.server.stop('SIGKILL')
    }
  })

interface Attempt {
  readonly streams: number
  readonly cost: LoadCost
  /** Words that arrived in time, as a share of those that were asked for. */
  readonly share: number
  readonly readerCpu: number
}

const attempt = (kind: Kind, effort: Effort, streams: number): Promise<Attempt> =>
  withServer(kind, async (target) => {
    const durationMs = durationOf(effort)
    const before = target.server.cpuMicros()
    const { words, p99Ms, readerCpu } = await stream(target, kind.cores, [streams, durationMs])
    const cost = { p99Ms, cpuMicros: (target.server.cpuMicros() - before) / words }
    return { streams, cost, share: words / ((streams * PER_SECOND * durationMs) / 1_000), readerCpu }
  })

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

/** Finds the largest number of streams that the server delivers in time. */
async function search(kind: Kind, effort: Effort): Promise<Attempt> {
  let found: Attempt | undefined
  const isMet = async (streams: number) => {
    // A pause of the machine must not decide the search.
    for (let attempts = effort.isQuick ? 1 : 2; attempts > 0; attempts--) {
      const attempted = await attempt(kind, effort, streams)
      const { cost, share, readerCpu } = attempted
      const isInTime = cost.p99Ms <= MOST_P99_MS && share >= LEAST_SHARE
      const measured = `p99 ${cost.p99Ms} ms, ${percent(share)} of the words, readers ${percent(readerCpu)} of a CPU`
      console.error(`${kind.title}: ${streams} streams ${isInTime ? 'met' : 'missed'}: ${measured}`)
      if (isInTime) {
        found = attempted
        return true
      }
    }
    return false
  }
  await largest({ first: FIRST, step: effort.isQuick ? 50 : 25, most: MOST }, isMet)
  if (found === undefined) throw new Error(`${kind.title} does not deliver ${FIRST} streams in time`)
  return found
}

interface Memory {
  readonly running: number
  readonly ended: number
}

/** Memory in KiB that each stream adds to a warm server: the peak while the streams run, and what remains after them. */
const memoryOf = (kind: Kind, effort: Effort, streams: number): Promise<Memory> =>
  withServer(kind, async (target) => {
    const before = target.server.rss()
    let peak = before
    const sampling = setInterval(() => {
      peak = Math.max(peak, target.server.rss())
    }, SAMPLE_MS)
    await stream(target, kind.cores, [streams, durationOf(effort)]).finally(() => clearInterval(sampling))
    await pause(SETTLE_MS)
    const perStream = (rss: number) => (rss - before) / streams / KIBIBYTE
    return { running: perStream(peak), ended: perStream(target.server.rss()) }
  })

async function compared(effort: Effort, cores: Cores): Promise<readonly Comparison[]> {
  const [onFloor, onPerdure] = [floorOn(cores), perdureOn(cores)]
  const [floor, subject] = [await search(onFloor, effort), await search(onPerdure, effort)]
  const memory = {
    floor: await memoryOf(onFloor, effort, floor.streams),
    subject: await memoryOf(onPerdure, effort, subject.streams),
  }
  const text = coresText(cores)
  const memoryRow = (variant: string, name: keyof Memory): Comparison => ({
    case: 'F14',
    variant: `${text}, memory per stream, ${variant}`,
    unit: 'KiB',
    floor: [memory.floor[name]],
    subject: [memory.subject[name]],
  })
  return [
    {
      case: 'F14',
      variant: `${text}, p99 ≤ ${MOST_P99_MS} ms`,
      unit: 'streams',
      floor: [floor.streams],
      subject: [subject.streams],
      load: { floor: [floor.cost], subject: [subject.cost] },
      goal: { atLeast: 0.5 },
      note: `readers used ${percent(floor.readerCpu)} / ${percent(subject.readerCpu)} of a CPU`,
    },
    memoryRow('peak', 'running'),
    memoryRow(`${SETTLE_MS / 1_000} s after the end`, 'ended'),
  ]
}

export const busyStreams: BenchCase = {
  id: 'F14',
  title: `as many runs at once as the server can stream, each with ${PER_SECOND} words/s and its own SSE reader`,
  run: async (effort) => [...(await compared(effort, coresOf(1))), ...(await compared(effort, coresOf(2)))],
}
