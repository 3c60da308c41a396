import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { bearer, createPlace, type Place, type RunningServer, startServer } from '../perdure-process.ts'
import { createAuditedPlace } from './audited-place.ts'
import { auditDamages, type Damage, type DamageCounts, fileDamages, logDamages } from './damages.ts'
import { inspectCopy, withCopy } from './database-copy.ts'
import { everyItem } from './run-checks.ts'
import { playScenario } from './scenario.ts'
import { openWorld, SERVE } from './world.ts'

export interface DamageOptions extends DamageCounts {
  readonly seed: number
  readonly onDamage?: (damage: Damage) => void
}

export interface DamageReport {
  readonly violations: readonly string[]
  /** Starts that were refused by name. */
  readonly refused: number
  /** Servers that started, and on reading answered the truth or an error. */
  readonly served: number
  /** Copies in which SQLite itself finds nothing wrong: a changed value in a page, or space that nobody uses. */
  readonly unseen: number
  /** Servers that had lost what a log was cut off from. */
  readonly behind: number
}

interface Victim {
  readonly place: Place
  readonly token: string
  /** What the whole file answers, by path. */
  readonly truth: ReadonlyMap<string, string>
  /** The newest audit entry under a checkpoint, and what the list shows up to it. */
  readonly anchored: { readonly seq: number; readonly shown: string }
  readonly damages: readonly Damage[]
  /** The file that is damaged, with what belongs to it. */
  readonly path: string
}

/** Damages copies of files and looks what becomes of a server on each: refused, honest, or an error. */
export async function damageFiles({ seed, onDamage, ...counts }: DamageOptions): Promise<DamageReport> {
  const random = createRandom(seed)
  const found: Found = { violations: [], refused: 0, served: 0, unseen: 0, behind: 0 }
  const choices = [
    { signal: 'SIGTERM', choose: (path: string) => fileDamages(path, random, counts) },
    { signal: 'SIGKILL', choose: (path: string) => fileDamages(path, random, counts) },
    { signal: 'SIGKILL', choose: (path: string) => logDamages(path, random, counts) },
    { signal: 'SIGKILL', isAudited: true, choose: (path: string) => auditDamages(path, random, counts) },
  ] as const
  for (const choice of choices) {
    const victim = await makeVictim(seed, choice)
    for (const damage of victim.damages) {
      onDamage?.(damage)
      await judge(victim, damage, found)
    }
    rmSync(victim.place.dir, { recursive: true })
  }
  return found
}

const pathOf = (place: Place): string => place.env.PERDURE_STORAGE_PATH ?? ''
const auditPathOf = (place: Place): string => place.env.PERDURE_AUDIT_PATH ?? ''

interface Choice {
  readonly signal: NodeJS.Signals
  readonly isAudited?: boolean
  readonly choose: (path: string) => readonly Damage[]
}

async function makeVictim(seed: number, { signal, isAudited = false, choose }: Choice): Promise<Victim> {
  const world = await openWorld({ seed, place: isAudited ? createAuditedPlace() : createPlace() })
  try {
    await playScenario(world, 'one')
    let anchored = { seq: 0, shown: '[]' }
    if (isAudited) {
      // What was audited up to an orderly end is under a checkpoint.
      await world.kill('SIGTERM')
      await world.start()
      const { seq } = (await world.ask({ path: '/audit/verify' })).body.checkpoint
      anchored = { seq, shown: anchoredOf((await world.ask({ method: 'GET', path: AUDIT })).text, seq) }
      await playScenario(world, 'two')
    }
    const paths = ['/runs?limit=200', '/sessions', '/memory/blocks', '/tokens', '/approvals']
    for (const { id } of await everyItem(world, '/runs')) paths.push(`/runs/${id}`, `/runs/${id}/events?limit=200`)
    if (!isAudited) paths.push('/audit?limit=200')
    const truth = new Map<string, string>()
    for (const path of paths) truth.set(path, withoutUse((await world.ask({ method: 'GET', path })).text))
    await world.kill(signal)
    const path = isAudited ? auditPathOf(world.place) : pathOf(world.place)
    return { place: world.place, token: world.token, truth, anchored, path, damages: choose(path) }
  } finally {
    await world.end({ isKept: true })
  }
}

const AUDIT = '/audit?order=asc&limit=200'

/** When a token was last used is noted now and then. */
const withoutUse = (body: string): string => body.replaceAll(/"lastUsedAt":"[^"]*",?/g, '')

interface Found {
  readonly violations: string[]
  refused: number
  served: number
  unseen: number
  behind: number
}

async function judge(victim: Victim, damage: Damage, found: Found): Promise<void> {
  const place = copyOf(victim.place)
  try {
    for (const violation of await judgeCopy(victim, { place, damage }, found)) {
      found.violations.push(`${damage.name} of ${basename(victim.path)}: ${violation}`)
    }
  } finally {
    rmSync(place.dir, { recursive: true })
  }
}

async function judgeCopy(
  victim: Victim,
  { place, damage }: { readonly place: Place; readonly damage: Damage },
  found: Found,
): Promise<readonly string[]> {
  const path = join(place.dir, basename(victim.path))
  damage.apply(path + damage.of)
  const before = hashOf(path)
  const isSeen = damage.expects !== 'honesty' || findsSomething(path)
  let server: RunningServer
  try {
    server = await startServer(place, SERVE)
  } catch (error) {
    found.refused++
    const message = String(error)
    const isNamed = message.includes('ended with 2') && REFUSALS.test(message)
    return [
      ...(isNamed && damage.expects !== 'truth' ? [] : [message]),
      ...(hashOf(path) === before ? [] : ['the file was changed']),
    ]
  }
  if (isSeen) found.served++
  else found.unseen++
  const lies = await JUDGES[damage.expects](server, victim, found)
  const { code, signal } = await server.kill('SIGTERM')
  return [
    ...(isSeen ? lies : []),
    ...(code === 0 || code === 70 ? [] : [`ended with ${code ?? signal}`]),
    ...(damage.expects === 'earlier moment' ? inspectCopy(path) : []),
  ]
}

type Judge = (server: RunningServer, victim: Victim, found: Found) => Promise<readonly string[]>

const JUDGES: Readonly<Record<Damage['expects'], Judge>> = {
  refusal: async () => ['it was served'],
  honesty: readAll,
  truth: readAll,
  async 'earlier moment'(server, { token, truth }, found) {
    const wrong: string[] = []
    let isBehind = false
    for (const [path, expected] of truth) {
      const { status, body } = await get(server, path, token)
      isBehind ||= body !== expected
      if (status >= 500) wrong.push(`${path} answered ${status} ${body}`)
    }
    if (isBehind) found.behind++
    return wrong
  },
  async 'audit shown'(server, victim) {
    return [...(await readAll(server, victim)), ...(await auditLies(server, victim))]
  },
}

async function get({ url }: RunningServer, path: string, token: string) {
  const response = await fetch(url + path, { headers: bearer(token) }).catch(() => undefined)
  return { status: response?.status ?? 0, body: withoutUse((await response?.text()) ?? '') }
}

/** Answers that are neither the truth nor an error. */
async function readAll(server: RunningServer, { token, truth }: Victim): Promise<readonly string[]> {
  const lies: string[] = []
  for (const [path, expected] of truth) {
    const { status, body } = await get(server, path, token)
    if (status === 0) break
    if (status < 400 && body !== expected) lies.push(`${path} answered ${body.slice(0, 200)}`)
    if (status >= 400 && status < 500) lies.push(`${path} answered ${status} ${body}`)
  }
  return lies
}

/** A chain that has lost or changed what was under a checkpoint, and passes for whole; an error that says nothing. */
async function auditLies(server: RunningServer, { token, anchored }: Victim): Promise<readonly string[]> {
  const verified = await verifyAudit(server, token)
  const { status, body } = await get(server, AUDIT, token)
  if (verified.status >= 500 || status >= 500) {
    return [verified.text, body].filter((text) => text.includes('"internal-error"'))
  }
  const isShown = verified.status !== 200 || !verified.ok
  const shown = anchoredOf(body, anchored.seq)
  if (isShown || (verified.entries >= anchored.seq && shown === anchored.shown)) return []
  return [`the audit log passes for whole, and its entries up to ${anchored.seq} are ${shown.slice(0, 200)}`]
}

async function verifyAudit(server: RunningServer, token: string) {
  const response = await fetch(`${server.url}/audit/verify`, { method: 'POST', headers: bearer(token), body: '{}' })
  const text = await response.text()
  const { ok = false, entries = 0 } = JSON.parse(text) as { readonly ok?: boolean; readonly entries?: number }
  return { status: response.status, text, ok, entries }
}

/** The entries up to the place, from a list that begins with the oldest. */
function anchoredOf(list: string, seq: number): string {
  const { items = [] } = JSON.parse(list) as { readonly items?: readonly { readonly seq: number }[] }
  return JSON.stringify(items.filter((item) => item.seq <= seq))
}

function copyOf({ dir: from, env }: Place): Place {
  const dir = mkdtempSync(join(tmpdir(), 'perdure-damage-'))
  for (const file of readdirSync(from)) {
    if (/^(data|audit)\.db(-wal|.*checkpoints)?$/.test(file)) copyFileSync(join(from, file), join(dir, file))
  }
  const audit = env.PERDURE_AUDIT_PATH === undefined ? {} : { PERDURE_AUDIT_PATH: join(dir, 'audit.db') }
  return { dir, env: { ...env, ...audit, PERDURE_STORAGE_PATH: join(dir, 'data.db') } }
}

/** Of the file and its log; an empty one is none. */
function hashOf(path: string): string {
  const hash = createHash('sha256')
  for (const file of [path, `${path}-wal`]) if (existsSync(file)) hash.update(readFileSync(file))
  return hash.digest('hex')
}

/** What the damage may be taken for: the versions of the schema are noted in the file too. */
const REFUSALS = /error\[(storage-corrupt|migration-failed|storage-newer-schema|encryption-passphrase-wrong)\]/

/** Whether SQLite reports the file: of its pages, not of what stands in them. */
function findsSomething(path: string): boolean {
  try {
    return withCopy(path, (database) => database.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok')
  } catch {
    return true
  }
}
