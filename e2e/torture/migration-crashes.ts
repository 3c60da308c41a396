import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { createPlace, perdure } from '../perdure-process.ts'
import { inspectCopy, withCopy } from './database-copy.ts'
import { type Contents, goldenVersions, lostRows, readContents, unpackGolden } from './golden.ts'
import { pickPoints, runTraced } from './traced-command.ts'
import { type Point, requireTool } from './tracing.ts'
import { SERVE } from './world.ts'

export interface MigrationCrashOptions {
  readonly seed: number
  /** How many points are chosen; all without it. */
  readonly points?: number
  /** From which version. */
  readonly from: number
  readonly onPoint?: (point: Point) => void
}

const MIGRATE = ['migrate', 'up', ...SERVE.slice(1)]

/** The contents of each golden database, by version. */
const readGolden = (): ReadonlyMap<number, Contents> => {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-golden-'))
  const contents = goldenVersions().map(
    (version) => [version, withCopy(unpackGolden(version, folder), readContents)] as const,
  )
  rmSync(folder, { recursive: true })
  return new Map(contents)
}

/**
 * Kills `perdure migrate up` at its system calls. Each time the file must be wholly of one version, with every row that it had,
 * and the next attempt must bring it to the newest.
 */
export async function crashMigrations({ seed, points, from, onPoint }: MigrationCrashOptions) {
  requireTool('strace')
  const golden = readGolden()
  const newest = Math.max(...golden.keys())
  const [before, last] = [golden.get(from), golden.get(newest)]
  if (before === undefined || last === undefined) throw new Error(`there is no golden database of version ${from}`)
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
    if (!isDeepStrictEqual(left.schema, whole?.schema)) violations.push(`${what}: half of a version ${left.version}`)
    if (left.applied.at(-1) !== left.version) violations.push(`${what}: ${left.applied} are noted at ${left.version}`)
    violations.push(...lostRows(before, left).map((row) => `${what}: lost ${row}`))
    const copy = `${path}.before-${from + 1}`
    if (existsSync(copy) && withCopy(copy, readContents).version !== from) violations.push(`${what}: the copy is none`)

    const { code, stderr } = await perdure({ dir, env }, MIGRATE)
    if (code !== 0) violations.push(`${what}: the next attempt ended with ${code}: ${stderr}`)
    const after = withCopy(path, readContents)
    if (!isDeepStrictEqual(after.schema, last.schema)) violations.push(`${what}: not whole afterwards`)
    violations.push(...lostRows(before, after).map((row) => `${what}: lost afterwards ${row}`))
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

/** Migrates a copy, and dies at the point when there is one. */
async function migrateTraced(from: number, point?: Point) {
  const place = createPlace()
  const path = unpackGolden(from, place.dir)
  return { path, ...place, ...(await runTraced(place, MIGRATE, point)) }
}
