import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { toolPath } from '../../tooling/machine-tools.ts'
import { type RunningServer, type Sandbox, startServer } from '../perdure-process.ts'
import { inspectCopy } from './database-copy.ts'
import { type Report, runKills } from './kills.ts'
import { FILE_CALLS, injectionOf, type Point, readCalls } from './tracing.ts'
import { SERVE } from './world.ts'

export interface StartCrashOptions {
  readonly seed: number
  /** How often the server is killed under load; after each kill, some of the following starts are killed too. */
  readonly kills: number
  readonly workers: number
  readonly onDeath?: (point: Point, isReached: boolean) => void
}

export interface StartCrashReport extends Report {
  /** Number of starts killed at a system call; `reached` counts the starts killed before the server listened. */
  readonly deaths: number
  readonly reached: number
}

const MAX_DEATHS = 3
/** Not every start repeats every system call of the first one, so a server can listen before it is killed. */
const MAX_TRIES = 20
const TRACE = `trace=${FILE_CALLS.join(',')}`
const strace = (...args: readonly string[]) => [toolPath('strace'), '-f', '-qq', '-e', TRACE, ...args]

/**
 * Runs clients while the server is killed, then killed one to three more times during startup, at least once before it
 * listens. Each startup kill happens at a system call of any thread: while it opens files, recovers the WAL, migrates or recovers runs. Checks
 * every invariant at the end.
 */
export async function crashStarts({ seed, kills, workers, onDeath }: StartCrashOptions): Promise<StartCrashReport> {
  const random = createRandom(seed + 1)
  const findings: string[] = []
  let calls: readonly Point[] | undefined
  let isFirst = true
  let deaths = 0
  let reached = 0

  const start = async (sandbox: Sandbox): Promise<RunningServer> => {
    if (isFirst) {
      isFirst = false
      return startServer(sandbox, SERVE)
    }
    calls ??= await callsOfStart(sandbox)
    const wanted = 1 + Math.floor(random() * MAX_DEATHS)
    for (let tries = 0, hits = 0; tries < wanted || (hits === 0 && tries < MAX_TRIES); tries++) {
      const point = calls[Math.floor(random() * calls.length)] as Point
      const isReached = await crashDuringStart(sandbox, point)
      deaths++
      if (isReached) hits++
      if (isReached) reached++
      onDeath?.(point, isReached)
      findings.push(...inspectCopy(sandbox.env.PERDURE_STORAGE_PATH ?? '').map((finding) => `I6: ${finding}`))
    }
    return startServer(sandbox, SERVE)
  }

  const report = await runKills({ seed, kills, workers, uptimeMs: [50, 600], start })
  return { ...report, violations: [...findings, ...report.violations], deaths, reached }
}

/** The calls of every thread until the server listens; the traced server is then killed. */
async function callsOfStart(sandbox: Sandbox): Promise<readonly Point[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-start-'))
  const server = await startServer(sandbox, SERVE, strace('-ff', '-o', join(folder, 'calls')))
  await server.kill('SIGKILL')
  const calls = readdirSync(folder).flatMap((file) => readCalls(join(folder, file)))
  rmSync(folder, { recursive: true })
  return calls
}

/** Returns whether the start was killed before it listened; otherwise the server is killed as soon as it listens. */
async function crashDuringStart(sandbox: Sandbox, { call, nth }: Point): Promise<boolean> {
  const injection = `inject=${call}:${injectionOf({ kind: 'kill' }, nth)}`
  try {
    const server = await startServer(sandbox, SERVE, strace('-o', '/dev/null', '-e', injection))
    await server.kill('SIGKILL')
    return false
  } catch (error) {
    if (!String(error).includes('exited with null')) throw error
    return true
  }
}
