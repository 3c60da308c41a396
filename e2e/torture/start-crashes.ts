import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { type Place, type RunningServer, startServer } from '../perdure-process.ts'
import { inspectCopy } from './database-copy.ts'
import { type Report, runKills } from './kills.ts'
import { FILE_CALLS, injectionOf, type Point, readCalls, requireTool } from './tracing.ts'
import { SERVE } from './world.ts'

export interface StartCrashOptions {
  readonly seed: number
  /** How often the server is killed at work; each time some of the starts that follow die too. */
  readonly kills: number
  readonly workers: number
  readonly onDeath?: (point: Point, isReached: boolean) => void
}

export interface StartCrashReport extends Report {
  /** Starts that died at a system call, of which so many before they listened. */
  readonly deaths: number
  readonly reached: number
}

const MOST_DEATHS = 3
const TRACE = `trace=${FILE_CALLS.join(',')}`
const strace = (...args: readonly string[]) => ['strace', '-f', '-qq', '-e', TRACE, ...args]

/**
 * Clients at work while the server is killed, and killed again while it starts: one to three times in a row, at a system call
 * of any of its threads, in the opening of the files, the recovery of the log, the migrations, the recovery of the runs. Then
 * every invariant.
 */
export async function crashStarts({ seed, kills, workers, onDeath }: StartCrashOptions): Promise<StartCrashReport> {
  requireTool('strace')
  const random = createRandom(seed + 1)
  const findings: string[] = []
  let calls: readonly Point[] | undefined
  let isFirst = true
  let deaths = 0
  let reached = 0

  const start = async (place: Place): Promise<RunningServer> => {
    if (isFirst) {
      isFirst = false
      return startServer(place, SERVE)
    }
    calls ??= await callsOfStart(place)
    for (let left = 1 + Math.floor(random() * MOST_DEATHS); left > 0; left--) {
      const point = calls[Math.floor(random() * calls.length)] as Point
      const isReached = await dieStarting(place, point)
      deaths++
      if (isReached) reached++
      onDeath?.(point, isReached)
      findings.push(...inspectCopy(place.env.PERDURE_STORAGE_PATH ?? '').map((finding) => `I6: ${finding}`))
    }
    return startServer(place, SERVE)
  }

  const report = await runKills({ seed, kills, workers, lifeMs: [50, 600], start })
  return { ...report, violations: [...findings, ...report.violations], deaths, reached }
}

/** The calls of every thread until it listens; what traced them is killed then. */
async function callsOfStart(place: Place): Promise<readonly Point[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-start-'))
  const server = await startServer(place, SERVE, strace('-ff', '-o', join(folder, 'calls')))
  await server.kill('SIGKILL')
  const calls = readdirSync(folder).flatMap((file) => readCalls(join(folder, file)))
  rmSync(folder, { recursive: true })
  return calls
}

/** Whether it died before it listened; one that was not reached is killed as soon as it listens. */
async function dieStarting(place: Place, { call, nth }: Point): Promise<boolean> {
  const injection = `inject=${call}:${injectionOf({ kind: 'kill' }, nth)}`
  try {
    const server = await startServer(place, SERVE, strace('-o', '/dev/null', '-e', injection))
    await server.kill('SIGKILL')
    return false
  } catch (error) {
    if (!String(error).includes('ended with null')) throw error
    return true
  }
}
