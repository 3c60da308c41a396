import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toolPath } from '../../tooling/machine-tools.ts'
import { BINARY, type Sandbox } from '../perdure-process.ts'
import { FILE_CALLS, injectionOf, type Point, readCalls } from './tracing.ts'

/** Runs a command under strace, killed at the point if one is given; returns the calls of its main thread. */
export async function runTraced({ dir, env }: Sandbox, args: readonly string[], point?: Point) {
  const output = join(dir, 'calls')
  const inject = point === undefined ? [] : ['-e', `inject=${point.call}:${injectionOf({ kind: 'kill' }, point.nth)}`]
  const trace = ['-ff', '-e', `trace=${FILE_CALLS.join(',')}`, ...inject, '-o', output]
  const strace = promisify(execFile)(toolPath('strace'), [...trace, process.execPath, BINARY, ...args], {
    env,
    cwd: dir,
  })
  const pid = strace.child.pid ?? 0
  let isKilled = false
  await strace.catch((error: { readonly signal?: string }) => {
    isKilled = point !== undefined && error.signal === 'SIGKILL'
    if (!isKilled) throw error
  })
  return { isKilled, calls: point === undefined ? readCalls(mainOutput(output, pid)) : [] }
}

/** The tracer forks the command, so the lowest process id above its own belongs to the main thread. */
function mainOutput(output: string, tracer: number): string {
  for (let pid = tracer + 1; pid < tracer + 1_000; pid++) if (existsSync(`${output}.${pid}`)) return `${output}.${pid}`
  throw new Error('strace wrote no file')
}

/** Picks one random point from each of `count` equal parts; default: all points. */
export function pickPoints(calls: readonly Point[], count: number | undefined, random: () => number): readonly Point[] {
  if (count === undefined || count >= calls.length) return calls
  const part = calls.length / count
  return Array.from({ length: count }, (_, n) => calls[Math.floor((n + random()) * part)] as Point)
}
