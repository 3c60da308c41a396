import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { toolPath } from '../../tooling/machine-tools.ts'
import type { RunningServer } from '../perdure-process.ts'

/** The system calls that change files: a crash between any two of them leaves a different state. */
export const FILE_CALLS = ['pwrite64', 'fdatasync', 'fsync', 'ftruncate', 'unlink', 'rename'] as const

/** One system call of a thread, counted from 1 per call name. */
export interface Point {
  readonly call: string
  readonly nth: number
}

/** The fault at a call: the process is killed there, or the call fails `times` times in a row. */
export type Fault =
  | { readonly kind: 'kill' }
  | { readonly kind: 'error'; readonly error: 'EIO' | 'ENOSPC'; readonly times: number }

/** Returns the thread that writes to the database. */
export function storageThread({ process }: RunningServer): number {
  const tasks = `/proc/${process.pid}/task`
  const workers = readdirSync(tasks).filter((task) => /worker/i.test(readFileSync(`${tasks}/${task}/comm`, 'utf8')))
  const [thread] = workers
    .filter((task) => !/V8|DelayedTask|libuv/i.test(readFileSync(`${tasks}/${task}/comm`, 'utf8')))
    .map(Number)
  if (thread === undefined) throw new Error('the process has no storage thread')
  return thread
}

export interface Trace {
  /** Stops tracing, if the process is still alive, and returns the calls in order. */
  calls(): Promise<readonly Point[]>
}

/** Traces one thread and injects the fault, if one is given. */
export async function traceThread(
  thread: number,
  output: string,
  planned?: Point & { readonly fault: Fault },
): Promise<Trace> {
  const what = planned === undefined ? [] : ['-e', `inject=${planned.call}:${injectionOf(planned.fault, planned.nth)}`]
  const args = ['-p', String(thread), '-e', `trace=${FILE_CALLS.join(',')}`, ...what, '-o', output]
  const strace = spawn(toolPath('strace'), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(strace, 'exit')
  await attached(strace)
  return {
    async calls() {
      strace.kill('SIGINT')
      await ended
      return readCalls(output)
    },
  }
}

export const injectionOf = (fault: Fault, nth: number): string =>
  fault.kind === 'kill' ? `signal=SIGKILL:when=${nth}` : `error=${fault.error}:when=${nth}..${nth + fault.times - 1}`

async function attached(strace: ChildProcess): Promise<void> {
  let output = ''
  for await (const chunk of strace.stderr ?? []) {
    output += chunk
    if (output.includes('attached')) break
    if (/strace: (?!Process)/.test(output)) throw new Error(output)
  }
  if (!output.includes('attached')) throw new Error(`strace did not attach: ${output}`)
}

/** Parses the calls of an strace file, with or without thread numbers, counted per call name. */
export function readCalls(output: string): readonly Point[] {
  const counts = new Map<string, number>()
  const points: Point[] = []
  for (const line of readFileSync(output, 'utf8').split('\n')) {
    const call = /^(?:\d+ +)?(\w+)\(/.exec(line)?.[1]
    if (call === undefined || !FILE_CALLS.some((name) => name === call)) continue
    const nth = (counts.get(call) ?? 0) + 1
    counts.set(call, nth)
    points.push({ call, nth })
  }
  return points
}
