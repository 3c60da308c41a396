import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createMovableClock } from '../faked-clock.ts'
import { type RunningServer, type Sandbox, startServer } from '../perdure-process.ts'
import { type FaultyProxy, openFaultyProxy } from './faulty-proxy.ts'

const SERVE = ['server', '--config', join(import.meta.dirname, '../fixtures/cluster.config.mjs')]

/** One server process at a time on the shared schema, with a network of its own to the database. */
export interface Node {
  readonly name: string
  /** The connections of the node to the database. */
  readonly network: FaultyProxy
  /** Moves the wall clock of the machine of the node by milliseconds. */
  moveClock(ms: number): void
  /** Whether the process reports that it is ready. */
  isReady(): Promise<boolean>
  /** The port of the API; `undefined` while no process listens. */
  port(): number | undefined
  /** The id of the process that listens. */
  pid(): number | undefined
  /** Sends a signal to the process, if there is one. */
  signal(signal: NodeJS.Signals): void
  /** Ends the process and starts the next one as soon as the start succeeds. */
  restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Starts a process that is not part of the node, and returns its error output if it refuses to start. */
  refusalWith(env: NodeJS.ProcessEnv): Promise<string | undefined>
  stop(): Promise<void>
}

export interface NodesOptions {
  readonly count: number
  readonly sandbox: Sandbox
  readonly databaseUrl: string
}

/** An exit that nobody asked for. */
export interface Exit {
  readonly node: string
  readonly code: number | null
  readonly stderr: string
}

export type Nodes = Awaited<ReturnType<typeof openNodes>>

/** Starts processes on one schema. A process that exits by itself is started again, as a supervisor would do. */
export async function openNodes({ count, sandbox, databaseUrl }: NodesOptions) {
  const exits: Exit[] = []
  const refusals: string[] = []
  const logs: (() => string)[] = []
  const all = await Promise.all(
    Array.from({ length: count }, (_, number) =>
      openNode(`node${number}`, { sandbox, databaseUrl, exits, refusals, logs }),
    ),
  )
  return {
    all,
    exits,
    /** The error output of every start that failed, for example while the database was away. */
    refusals,
    /** What the processes have logged about a request, with the stack of its error. */
    linesOf: (requestId: string) =>
      logs.flatMap((log) => {
        const lines = log().split('\n')
        const at = lines.findIndex((line) => line.includes(requestId))
        if (at === -1) return []
        const next = lines.findIndex((line, index) => index > at && FIRST_LINE.test(line))
        return lines.slice(at, next === -1 ? undefined : next)
      }),
    /** Everything that the processes have logged at level `error`, each text once, with how often it occurs. */
    errors(): ReadonlyMap<string, number> {
      const counts = new Map<string, number>()
      for (const log of logs) {
        for (const entry of log().split(ENTRY_START)) {
          if (!entry.startsWith('error ')) continue
          const text = entry.replaceAll(/\b(?:req|run|tok|evt|ses)_\w+|durationMs=\d+/g, '…').trimEnd()
          counts.set(text, (counts.get(text) ?? 0) + 1)
        }
      }
      return counts
    },
    ports: () => all.flatMap((node) => node.port() ?? []),
    async stop() {
      await Promise.all(all.map((node) => node.stop()))
    },
  }
}

interface NodeDeps {
  readonly sandbox: Sandbox
  readonly databaseUrl: string
  readonly exits: Exit[]
  readonly refusals: string[]
  readonly logs: (() => string)[]
}

const RETRY_MS = 200

/** A log line begins with its time; the stack and the causes of an error follow, indented. */
const FIRST_LINE = /^\d\d:\d\d:/
const ENTRY_START = /^\d\d:\d\d:\S+ /m

async function openNode(name: string, { sandbox, databaseUrl, exits, refusals, logs }: NodeDeps): Promise<Node> {
  const direct = new URL(databaseUrl)
  const network = await openFaultyProxy(Number(direct.port))
  direct.port = String(network.port)
  const dir = join(sandbox.dir, name)
  mkdirSync(dir)
  const clock = createMovableClock()
  const withEnv = (env: NodeJS.ProcessEnv): Sandbox => ({
    dir,
    env: { ...sandbox.env, E2E_DATABASE_URL: direct.href, ...env },
  })
  let server: RunningServer | undefined
  let isStopped = false

  let starting: Promise<void> | undefined

  /** A process that exits by itself and one that is killed may ask for the next one at the same time. */
  const start = () => {
    starting ??= startNext().finally(() => {
      starting = undefined
    })
    return starting
  }

  const startNext = async () => {
    while (!isStopped) {
      const wasMoved = clock.isMoved()
      try {
        const started = await startServer(withEnv(clock.env), SERVE)
        server = started
        logs.push(started.stderr)
        started.process.once('close', (code, signal) => {
          if (server !== started) return
          server = undefined
          exits.push({ node: name, code: signal === null ? code : null, stderr: started.stderr() })
          void start()
        })
        if (isStopped) await end('SIGKILL')
        return
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        // A process that ends while its clock is wrong must not be followed by one with that clock.
        const isRightly = (wasMoved || clock.isMoved()) && message.includes('error[clock-skew]')
        if (!isRightly) refusals.push(`${name}: ${message}`)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const ending = server
    server = undefined
    return ending?.kill(signal)
  }

  await start()
  return {
    name,
    network,
    moveClock: clock.move,
    isReady: async () =>
      server !== undefined && (await fetch(`${server.url}/health/ready`).catch(() => undefined))?.status === 200,
    port: () => (server === undefined ? undefined : Number(new URL(server.url).port)),
    pid: () => server?.process.pid,
    signal: (signal) => void server?.process.kill(signal),
    async restart(signal) {
      const ending = server
      const ended = await end(signal)
      if (ending !== undefined && signal === 'SIGTERM' && ended?.code !== 0) {
        exits.push({ node: name, code: ended?.code ?? null, stderr: ending.stderr() })
      }
      await start()
    },
    async refusalWith(env) {
      try {
        await (await startServer(withEnv(env), SERVE)).kill('SIGKILL')
        return undefined
      } catch (error) {
        return String(error)
      }
    },
    async stop() {
      isStopped = true
      await end('SIGKILL')
      await network.close()
    },
  }
}
