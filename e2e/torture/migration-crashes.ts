import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { createSandbox, perdure } from '../perdure-process.ts'
import { inspectCopy, withCopy } from './database-copy.ts'
import { type Contents, goldenVersions, lostRows, readContents, unpackGolden } from './golden.ts'
import { pickPoints, runTraced } from './traced-command.ts'
import type { Point } from './tracing.ts'
import { SERVE } from './world.ts'

export interface MigrationCrashOptions {
  readonly seed: number
  /** Number of system calls at which to kill the migration; default: all. */
  readonly points?: number
  /** The version to migrate from. */
  readonly from: number
  readonly onPoint?: (point: Point) => void
}

const MIGRATE = ['migrate', 'up', ...SERVE.slice(1)]

/** Reads the contents of each golden database, by version. */
const readGolden = (): ReadonlyMap<number, Contents> => {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-golden-'))
  const contents = goldenVersions().map(
    (version) => [version, withCopy(unpackGolden(version, folder), readContents)] as const,
  )
  rmSync(folder, { recursive: true })
  return new Map(contents)
}

/**
 * Kills `perdure migrate up` at its system calls. After each kill the file must be at exactly one version with all its
 * rows, and the next attempt must reach the newest version.
 */
export async function crashMigrations({ seed, points, from, onPoint }: MigrationCrashOptions) {
  const golden = readGolden()
  const newest = Math.max(...golden.keys())
  const [before, last] = [golden.get(from), golden.get(newest)]
  if (before === undefined || last === undefined) throw new Error(`no golden database of version ${from}`)
  const random = createRandom(seed)
  const violations: string[] = []
  const reached = new Map<number, number>()
  let killed = 0
  const all = await migrateTraced(from)
  const chosen = pickPoints(all.calls, points, random)
  for (const point of chosen) {
    onPoint?.(point)
    const what = `${point.call} ${point.nth} of the migration from ${from}`
    const { path, dir, env, isKilled } = await migrateTraced(from, point)
    if (isKilled) killed++
    const left = withCopy(path, readContents)
    reached.set(left.version, (reached.get(left.version) ?? 0) + 1)
    const whole = golden.get(left.version)
    violations.push(...inspectCopy(path).map((finding) => `${what}: ${finding}`))
    if (!isDeepStrictEqual(left.schema, whole?.schema)) violations.push(`${what}: incomplete version ${left.version}`)
    if (left.applied.at(-1) !== left.version)
      violations.push(`${what}: versions ${left.applied} recorded at ${left.version}`)
    violations.push(...lostRows(before, left).map((row) => `${what}: lost ${row}`))
    const copy = `${path}.before-${from + 1}`
    if (existsSync(copy) && withCopy(copy, readContents).version !== from)
      violations.push(`${what}: the copy is not at version ${from}`)

    const { code, stderr } = await perdure({ dir, env }, MIGRATE)
    if (code !== 0) violations.push(`${what}: the next attempt exited with ${code}: ${stderr}`)
    const after = withCopy(path, readContents)
    if (!isDeepStrictEqual(after.schema, last.schema)) violations.push(`${what}: incomplete after the next attempt`)
    violations.push(...lostRows(before, after).map((row) => `${what}: lost after the next attempt ${row}`))
    rmSync(dir, { recursive: true })
  }
  return {
    violations,
    calls: all.calls.length,
    points: chosen.length,
    killed,
    reached: [...reached].toSorted(byVersion),
  }
}

const byVersion = ([one]: readonly [number, number], [other]: readonly [number, number]) => one - other

/** Migrates a fresh copy, killed at the point if one is given. */
async function migrateTraced(from: number, point?: Point) {
  const sandbox = createSandbox()
  const path = unpackGolden(from, sandbox.dir)
  return { path, ...sandbox, ...(await runTraced(sandbox, MIGRATE, point)) }
}
