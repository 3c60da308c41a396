import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { type Place, perdure } from '../perdure-process.ts'
import { inspectCopy, withCopy } from './database-copy.ts'
import { readContents } from './golden.ts'
import { playScenario } from './scenario.ts'
import { pickPoints, runTraced } from './traced-command.ts'
import { requireTool } from './tracing.ts'
import { openWorld, SERVE } from './world.ts'

export interface CommandCrashOptions {
  readonly seed: number
  /** How many points of each command are chosen; all without it. */
  readonly points?: number
  readonly onPoint?: () => void
}

const CONFIG = SERVE.slice(1)
const COPY = 'copy.db'

interface Attacked {
  readonly args: readonly string[]
  /** What may stand in the database after a death. */
  readonly leaves: 'what was there' | 'what was there or the copy'
  /** What stands in it once the command was given again. */
  readonly ends: 'what was there' | 'the copy'
  readonly out?: string
}

/** What rewrites the whole file, or all of a copy. */
const COMMANDS: Readonly<Record<string, Attacked>> = {
  vacuum: { args: ['storage', 'vacuum'], leaves: 'what was there', ends: 'what was there' },
  backup: {
    ...{ args: ['backup', 'create', '--out', 'second.db'], out: 'second.db' },
    ...{ leaves: 'what was there', ends: 'what was there' },
  },
  restore: { args: ['restore', COPY], leaves: 'what was there or the copy', ends: 'the copy' },
}

/**
 * Kills the commands that rewrite a database at their system calls, on the files of a killed server. Each time every row must be
 * there as before, or as in the copy that is restored; a copy that has its name must be whole; the same command, given
 * again, must end well.
 */
export async function crashCommands({ seed, points, onPoint }: CommandCrashOptions) {
  requireTool('strace')
  const random = createRandom(seed)
  const { place, before, copied } = await makeBase(seed)
  const violations: string[] = []
  const counts: Record<string, number> = {}
  for (const [name, command] of Object.entries(COMMANDS)) {
    const args = [...command.args, ...CONFIG]
    const { calls } = await runTraced(copyOf(place), args)
    for (const point of pickPoints(calls, points, random)) {
      onPoint?.()
      const copy = copyOf(place)
      const path = join(copy.dir, 'data.db')
      const { isKilled } = await runTraced(copy, args, point)
      if (isKilled) counts[name] = (counts[name] ?? 0) + 1
      const wrong = [...inspectCopy(path)]
      const left = rowsOf(path)
      const isOld = isDeepStrictEqual(left, before)
      if (!isOld && (command.leaves === 'what was there' || !isDeepStrictEqual(left, copied))) wrong.push('other rows')
      wrong.push(...(await giveAgain(copy, command)))
      const expected = command.ends === 'the copy' ? copied : before
      if (!isDeepStrictEqual(rowsOf(path), expected)) wrong.push('other rows once it was given again')
      violations.push(...wrong.map((finding) => `${name} killed at ${point.call} ${point.nth}: ${finding}`))
      rmSync(copy.dir, { recursive: true })
    }
  }
  rmSync(place.dir, { recursive: true })
  return { violations, killed: counts }
}

/** The same command ends well; a copy that has its name already is whole. */
async function giveAgain(place: Place, { args, out }: Attacked): Promise<readonly string[]> {
  const isThere = out !== undefined && existsSync(join(place.dir, out))
  const again = isThere ? ['backup', 'verify', out] : args
  const { code, stderr } = await perdure(place, [...again, ...CONFIG])
  return code === 0 ? [] : [`perdure ${again.join(' ')} ended with ${code}: ${stderr}`]
}

/** A database with its log, as a killed server leaves it, and a copy of how it was a while before. */
async function makeBase(seed: number) {
  const world = await openWorld({ seed })
  const { place, databasePath } = world
  try {
    await playScenario(world, 'one')
    const { code, stderr } = await perdure(place, ['backup', 'create', '--out', COPY, ...CONFIG])
    if (code !== 0) throw new Error(stderr)
    await playScenario(world, 'two')
    await world.kill()
    return { place, before: rowsOf(databasePath), copied: rowsOf(join(place.dir, COPY)) }
  } finally {
    await world.end({ isKept: true })
  }
}

/** All rows but those about the file itself: how it was closed, of which life it is. */
function rowsOf(path: string) {
  const { rows } = withCopy(path, readContents)
  return { ...rows, meta: [] }
}

function copyOf({ dir, env }: Place): Place {
  const to = mkdtempSync(join(tmpdir(), 'perdure-command-'))
  cpSync(dir, to, { recursive: true })
  return { dir: to, env: { ...env, PERDURE_STORAGE_PATH: join(to, 'data.db') } }
}
