import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { perdure, type Sandbox } from '../perdure-process.ts'
import { inspectCopy, withCopy } from './database-copy.ts'
import { readContents } from './golden.ts'
import { playScenario } from './scenario.ts'
import { pickPoints, runTraced } from './traced-command.ts'
import { openWorld, SERVE } from './world.ts'

export interface CommandCrashOptions {
  readonly seed: number
  /** Number of system calls at which to kill each command; default: all. */
  readonly points?: number
  readonly onPoint?: () => void
}

const CONFIG = SERVE.slice(1)
const COPY = 'copy.db'

interface Attacked {
  readonly args: readonly string[]
  /** Allowed database contents after the kill. */
  readonly leaves: 'original rows' | 'original rows or the copy'
  /** Required database contents after the command was repeated. */
  readonly ends: 'original rows' | 'the copy'
  readonly out?: string
}

/** Commands that rewrite the whole file or write a copy. */
const COMMANDS: Readonly<Record<string, Attacked>> = {
  vacuum: { args: ['storage', 'vacuum'], leaves: 'original rows', ends: 'original rows' },
  backup: {
    ...{ args: ['backup', 'create', '--out', 'second.db'], out: 'second.db' },
    ...{ leaves: 'original rows', ends: 'original rows' },
  },
  restore: { args: ['restore', COPY], leaves: 'original rows or the copy', ends: 'the copy' },
}

/**
 * Kills commands that rewrite a database at their system calls, starting from the files of a killed server. After each
 * kill, the database must hold its original rows or those of the restored backup, a backup under its final name must be
 * complete, and repeating the command must succeed.
 */
export async function crashCommands({ seed, points, onPoint }: CommandCrashOptions) {
  const random = createRandom(seed)
  const { sandbox, source, backup } = await makeBase(seed)
  const violations: string[] = []
  const counts: Record<string, number> = {}
  const head = await acceptedHead(copyOf(sandbox))
  for (const [name, command] of Object.entries(COMMANDS)) {
    const args = [...command.args, ...(name === 'restore' ? head : []), ...CONFIG]
    const read = name === 'restore' ? rowsWithoutAudit : rowsOf
    const [before, copied] = [read(source), read(backup)]
    const { calls } = await runTraced(copyOf(sandbox), args)
    for (const point of pickPoints(calls, points, random)) {
      onPoint?.()
      const copy = copyOf(sandbox)
      const path = join(copy.dir, 'data.db')
      const { isKilled } = await runTraced(copy, args, point)
      if (isKilled) counts[name] = (counts[name] ?? 0) + 1
      const wrong = [...inspectCopy(path)]
      const left = read(path)
      const isOld = isDeepStrictEqual(left, before)
      if (!isOld && (command.leaves === 'original rows' || !isDeepStrictEqual(left, copied))) wrong.push('other rows')
      wrong.push(...(await repeatCommand(copy, { ...command, args })))
      const expected = command.ends === 'the copy' ? copied : before
      if (!isDeepStrictEqual(read(path), expected)) wrong.push('other rows after the command was repeated')
      violations.push(...wrong.map((finding) => `${name} killed at ${point.call} ${point.nth}: ${finding}`))
      rmSync(copy.dir, { recursive: true })
    }
  }
  rmSync(sandbox.dir, { recursive: true })
  return { violations, killed: counts }
}

/** Repeats the command; verifies the backup instead when it already has its final name. */
async function repeatCommand(sandbox: Sandbox, { args, out }: Attacked): Promise<readonly string[]> {
  const isThere = out !== undefined && existsSync(join(sandbox.dir, out))
  const again = isThere ? ['backup', 'verify', out] : args
  const { code, stderr } = await perdure(sandbox, isThere ? [...again, ...CONFIG] : again)
  return code === 0 ? [] : [`perdure ${again.join(' ')} exited with ${code}: ${stderr}`]
}

/** Creates a database with its WAL, as a killed server leaves it, and an earlier backup of it. */
async function makeBase(seed: number) {
  const world = await openWorld({ seed })
  const { sandbox, databasePath } = world
  try {
    await playScenario(world, 'one')
    const { code, stderr } = await perdure(sandbox, ['backup', 'create', '--out', COPY, ...CONFIG])
    if (code !== 0) throw new Error(stderr)
    await playScenario(world, 'two')
    await world.kill()
    return { sandbox, source: databasePath, backup: join(sandbox.dir, COPY) }
  } finally {
    await world.end({ isKept: true })
  }
}

/** The flag with which a restore discards the audit entries that followed the backup. */
async function acceptedHead(sandbox: Sandbox): Promise<readonly string[]> {
  const { stderr } = await perdure(sandbox, ['restore', COPY, ...CONFIG])
  const [flag, head] = /(--accept-audit-head) (\S+?);/.exec(stderr)?.slice(1) ?? []
  if (flag === undefined || head === undefined) throw new Error(`the restore names no audit head: ${stderr}`)
  return [flag, head]
}

/** All rows except those about the file itself, such as how it was closed. */
function rowsOf(path: string) {
  const { rows } = withCopy(path, readContents)
  return { ...rows, meta: [] }
}

/** A restore adds an entry to the audit log of the backup. */
const rowsWithoutAudit = (path: string) => ({ ...rowsOf(path), audit_entries: [], audit_heads: [] })

function copyOf({ dir, env }: Sandbox): Sandbox {
  const to = mkdtempSync(join(tmpdir(), 'perdure-command-'))
  cpSync(dir, to, { recursive: true })
  return { dir: to, env: { ...env, PERDURE_STORAGE_PATH: join(to, 'data.db') } }
}
