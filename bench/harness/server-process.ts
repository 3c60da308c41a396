import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pinned } from './cores.ts'

export interface ServerProcess {
  readonly port: number
  readonly pid: number
  /** Milliseconds from spawn to the line that reports the port. */
  readonly listeningAfterMs: number
  readonly process: ChildProcess
  /** Resident memory in bytes. */
  rss(): number
  /** Processor time of all threads so far, in microseconds. */
  cpuMicros(): number
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface Start {
  readonly command?: readonly string[]
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** CPUs that the server may use, as for `taskset -c`; every CPU when missing. */
  readonly cpus?: string | undefined
  /** File that takes its stderr; by default the stderr of the bench. */
  readonly logFile?: string | undefined
}

/** Starts a server that prints a line with its port, as every floor and Perdure do. */
export async function startProcess({ command, args, env = {}, cpus, logFile }: Start): Promise<ServerProcess> {
  const startedAt = performance.now()
  const [file = '', ...rest] = pinned(cpus, [...(command ?? [process.execPath]), ...args])
  const log = logFile === undefined ? undefined : openSync(logFile, 'a')
  const options: SpawnOptions = { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', log ?? 'inherit'] }
  const child = spawn(file, rest, options)
  if (log !== undefined) closeSync(log)
  const exited = once(child, 'exit')
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout as Readable }).on('line', (line) => {
      const [, port] = /(?:listening on \S+:|"port":)(\d+)/.exec(line) ?? []
      if (port !== undefined) resolve(Number(port))
    })
    exited.then(([code]) => reject(new Error(`${args.join(' ')} exited with ${code} before it was listening`)))
  })
  const started = child.pid ?? 0
  const pid = command === undefined ? started : childOf(started)
  return {
    ...{ port, pid, process: child },
    listeningAfterMs: performance.now() - startedAt,
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024,
    cpuMicros: () => cpuMicrosOf(pid),
    async stop(signal = 'SIGTERM') {
      process.kill(pid, signal)
      await exited
    },
  }
}

const MICROS_PER_TICK = 10_000

/** Processor time of all threads of a process so far, in microseconds. */
export function cpuMicrosOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK
}

/** Signals must go to the server itself: a tracer does not forward them. */
const childOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])

const FLOORS = join(import.meta.dirname, '../floors')

/** Starts a program in `floors/`. */
export const startFloor = (
  name: string,
  env: Readonly<Record<string, string>> = {},
  cpus?: string,
): Promise<ServerProcess> => startProcess({ args: [join(FLOORS, `${name}.mjs`)], env, cpus })

/** Runs `work` with a temporary folder, and removes the folder afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
