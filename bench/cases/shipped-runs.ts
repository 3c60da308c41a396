import { type Cores, coresOf } from '../harness/cores.ts'
import { sendLoad } from '../harness/load.ts'
import { auditEnv, JSON_HEADERS, RETRY_RUN, RUN, RUN_BODY, startShipped } from '../harness/perdure.ts'
import { alternate, type Comparison, type LoadCost, median } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startFloor } from '../harness/server-process.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const TOKEN = 'floor_token_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST'
const CONNECTIONS = [1, 16, 64] as const
const MOST = 64

type Goals = Readonly<Record<1 | 2, readonly [number, number, number]>>

/** The agents that are measured, with the goals of one core and of two for each number of connections. */
const AGENTS = [
  { path: RUN, title: '', goals: { 1: [0.65, 0.5, 0.5], 2: [0.65, 0.55, 0.55] } },
  { path: RETRY_RUN, title: ", onCrash: 'retry'", goals: { 1: [1.1, 0.95, 0.8], 2: [0.9, 0.8, 0.75] } },
] as const satisfies readonly { readonly path: string; readonly title: string; readonly goals: Goals }[]

const MEBIBYTE = 1_048_576

/** A server, and how to send it runs. */
interface Target {
  readonly server: ServerProcess
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly cores: Cores
  readonly randomKeys: boolean
}

/** Measures runs per second, and records the processor time of each round. */
export function measuring({ server, cores, ...request }: Target, { durationMs }: Effort) {
  let firstKey = 0
  let costs: LoadCost[] = []
  const load = async (connections: number): Promise<number> => {
    const before = server.cpuMicros()
    const { port } = server
    const target = { ...request, port, body: RUN_BODY, cpus: cores.load, keyed: true, firstKey, connections }
    const { perSecond, p99Ms, nextKey } = await sendLoad({ ...target, durationMs, warmUpMs: 0 })
    costs.push({ p99Ms, cpuMicros: (server.cpuMicros() - before) / (nextKey - firstKey) })
    firstKey = nextKey
    return perSecond
  }
  return {
    load,
    /**
     * Sends runs over 64 connections until the server has had this many: a slow server must be equally warm before the
     * comparison.
     */
    async warmUp(runs: number) {
      while (firstKey < runs) await load(MOST)
    },
    takeCosts() {
      const taken = costs
      costs = []
      return taken
    },
  }
}

type Measured = ReturnType<typeof measuring>

export async function compared(effort: Effort, floor: Measured, subject: Measured, connections: number) {
  floor.takeCosts()
  subject.takeCosts()
  const figures = await alternate(effort.rounds, {
    floor: () => floor.load(connections),
    subject: () => subject.load(connections),
  })
  return { ...figures, load: { floor: floor.takeCosts(), subject: subject.takeCosts() } }
}

export const warmUpRuns = ({ isQuick }: Effort) => (isQuick ? 3_000 : 20_000)
const figuresOf = (costs: readonly LoadCost[], name: keyof LoadCost) => costs.map((one) => one[name])

interface Form {
  readonly cores: Cores
  readonly randomKeys: boolean
}

const formText = ({ cores, randomKeys }: Form) =>
  `${cores.count === 1 ? 'one core' : 'two cores'}, ${randomKeys ? 'random keys' : 'keys in order'}`

/** Runs of a server with its default configuration, against the floor. */
const againstFloor = (effort: Effort, form: Form): Promise<readonly Comparison[]> =>
  inFolder(async (folder) => {
    const { cores } = form
    const floorEnv = { FLOOR_DATABASE: `${folder}/floor.db`, FLOOR_TOKEN: TOKEN }
    const floor = await startFloor('token-runs', floorEnv, cores.server)
    const { server, headers } = await startShipped({ folder, cpus: cores.server })
    const floorHeaders = { ...JSON_HEADERS, Authorization: `Bearer ${TOKEN}` }
    const onFloor = measuring({ server: floor, path: '/', headers: floorHeaders, ...form }, effort)
    const rows: Comparison[] = []
    try {
      await onFloor.warmUp(warmUpRuns(effort))
      for (const { path, title, goals } of AGENTS) {
        const onPerdure = measuring({ server, path, headers, ...form }, effort)
        await onPerdure.warmUp(warmUpRuns(effort))
        const text = `${formText(form)}${title}`
        for (const [index, connections] of CONNECTIONS.entries()) {
          const figures = await compared(effort, onFloor, onPerdure, connections)
          const variant = `${text}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
          const goal = { atLeast: goals[cores.count][index] ?? 0 }
          rows.push({ case: 'F1', variant, unit: 'runs/s', ...figures, goal })
          if (connections === MOST) rows.push(...costRows(figures.load, text, cores))
        }
      }
      const memory = { floor: [floor.rss() / MEBIBYTE], subject: [server.rss() / MEBIBYTE] }
      rows.push({ case: 'F1', variant: `${formText(form)}, memory`, unit: 'MiB', ...memory, goal: { atMost: 1.3 } })
    } finally {
      await Promise.all([floor.stop(), server.stop()])
    }
    return rows
  })

function costRows({ floor, subject }: NonNullable<Comparison['load']>, text: string, { count }: Cores): Comparison[] {
  const variant = `${text}, ${MOST} connections`
  const p99 = { floor: figuresOf(floor, 'p99Ms'), subject: figuresOf(subject, 'p99Ms') }
  const cpu = { floor: figuresOf(floor, 'cpuMicros'), subject: figuresOf(subject, 'cpuMicros') }
  return [
    { case: 'F1', variant: `${variant}, p99`, unit: 'ms', ...p99, goal: { atMost: 1.5 } },
    { case: 'F1', variant: `${variant}, CPU a run`, unit: 'µs', ...cpu, goal: { atMost: count === 1 ? 1.5 : 1.7 } },
  ]
}

interface Setting {
  readonly title: string
  /** Environments of the two servers. */
  readonly without: Readonly<Record<string, string>>
  readonly with: Readonly<Record<string, string>>
  readonly atLeast: number
}

/** Compares the cost of a setting: the same server twice, with random keys and 64 connections. */
const costOf = (effort: Effort, cores: Cores, setting: (folder: string) => Setting): Promise<Comparison> =>
  inFolder((folder) =>
    inFolder(async (otherFolder) => {
      const { title, atLeast, ...envs } = setting(folder)
      const form = { cores, randomKeys: true }
      const start = async (where: string, env: Readonly<Record<string, string>>) => {
        const { server, headers } = await startShipped({ folder: where, env, cpus: cores.server })
        return { server, measured: measuring({ server, path: RUN, headers, ...form }, effort) }
      }
      const plain = await start(otherFolder, envs.without)
      const full = await start(folder, envs.with)
      try {
        for (const { measured } of [plain, full]) await measured.warmUp(warmUpRuns(effort))
        const figures = await compared(effort, plain.measured, full.measured, MOST)
        const rate = Math.round(median(figures.floor))
        const note = `floor: Perdure without it, ${rate}/s`
        return {
          case: 'F1',
          variant: `${formText(form)}, ${title}`,
          unit: 'runs/s',
          ...figures,
          goal: { atLeast },
          note,
        }
      } finally {
        await Promise.all([plain.server.stop(), full.server.stop()])
      }
    }),
  )

const REQUEST_LOG = (): Setting => ({
  title: 'with the request log',
  without: { PERDURE_LOG_LEVEL: 'warn' },
  with: {},
  atLeast: 0.95,
})

const AUDIT = (folder: string): Setting => ({
  title: 'with the audit log',
  without: {},
  with: auditEnv(folder),
  atLeast: 0.75,
})

export const shippedRuns: BenchCase = {
  id: 'F1',
  title:
    'keyed runs as shipped: default configuration, a token, the request log in a file; the floor checks a token too',
  async run(effort) {
    const rows: Comparison[] = []
    for (const cores of [coresOf(1), coresOf(2)]) {
      for (const randomKeys of [true, false]) rows.push(...(await againstFloor(effort, { cores, randomKeys })))
      rows.push(await costOf(effort, cores, REQUEST_LOG), await costOf(effort, cores, AUDIT))
    }
    return rows
  },
}
