import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface ServerProcess {
  readonly port: number
  readonly pid: number
  /** Milliseconds from spawn to the line that reports the port. */
  readonly listeningAfterMs: number
  readonly process: ChildProcess
  /** Resident memory in bytes. */
  rss(): number
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface Start {
  readonly command?: readonly string[]
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a server that prints a line with its port, as every floor and Perdure do. */
export async function startProcess({ command, args, env = {} }: Start): Promise<ServerProcess> {
  const startedAt = performance.now()
  const [file = process.execPath, ...first] = command ?? []
  const child = spawn(file, [...first, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /listening on \S+:(\d+)/.exec(line)
      if (match?.[1] !== undefined) resolve(Number(match[1]))
    })
    exited.then(([code]) => reject(new Error(`${args.join(' ')} exited with ${code} before it was listening`)))
  })
  const started = child.pid ?? 0
  const pid = command === undefined ? started : childOf(started)
  return {
    ...{ port, pid, process: child },
    listeningAfterMs: performance.now() - startedAt,
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024,
    async stop(signal = 'SIGTERM') {
      process.kill(pid, signal)
      await exited
    },
  }
}

/** Signals must go to the server itself: a tracer does not forward them. */
const childOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])

const FLOORS = join(import.meta.dirname, '../floors')

/** Starts a program in `floors/`. */
export const startFloor = (name: string, env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> =>
  startProcess({ args: [join(FLOORS, `${name}.mjs`)], env })

/** Runs `work` with a temporary folder, and removes the folder afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
