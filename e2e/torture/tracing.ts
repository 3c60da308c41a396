import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { RunningServer } from '../perdure-process.ts'

/** What changes a file: every crash between two of these leaves another state behind. */
export const FILE_CALLS = ['pwrite64', 'fdatasync', 'fsync', 'ftruncate', 'unlink', 'rename'] as const

/** One system call among those that a thread makes, counted from 1 for each name. */
export interface Point {
  readonly call: string
  readonly nth: number
}

/** What befalls the call: the process dies there, or the call fails, so many times in a row. */
export type Fault =
  | { readonly kind: 'kill' }
  | { readonly kind: 'error'; readonly error: 'EIO' | 'ENOSPC'; readonly times: number }

/** The thread that writes to the database. */
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
  /** Stops tracing, if the process still lives, and answers the calls in their order. */
  calls(): Promise<readonly Point[]>
}

/** Traces one thread, and strikes at the point when there is a fault. */
export async function traceThread(
  thread: number,
  output: string,
  strike?: Point & { readonly fault: Fault },
): Promise<Trace> {
  const what = strike === undefined ? [] : ['-e', `inject=${strike.call}:${injectionOf(strike.fault, strike.nth)}`]
  const args = ['-p', String(thread), '-e', `trace=${FILE_CALLS.join(',')}`, ...what, '-o', output]
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
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
  let said = ''
  for await (const chunk of strace.stderr ?? []) {
    said += chunk
    if (said.includes('attached')) break
    if (/strace: (?!Process)/.test(said)) throw new Error(said)
  }
  if (!said.includes('attached')) throw new Error(`strace did not attach: ${said}`)
}

/** The calls of an strace file, with or without thread numbers in front, each counted among its own. */
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

/** The suite does not pass where it cannot look. @throws with what to install */
export function requireTool(name: string, args: readonly string[] = ['--version']): void {
  try {
    execFileSync(name, args, { stdio: 'ignore' })
  } catch {
    throw new Error(`${name} is missing: install it to run this part of the suite`)
  }
}
