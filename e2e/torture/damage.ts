import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { bearer, createSandbox, type RunningServer, type Sandbox, startServer } from '../perdure-process.ts'
import { createAuditedSandbox } from './audited-sandbox.ts'
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
  /** Number of starts that were refused with a typed error. */
  readonly refused: number
  /** Number of servers that started and answered every read correctly or with an error. */
  readonly served: number
  /** Number of copies whose damage SQLite cannot detect: a changed value in a page, or unused space. */
  readonly unseen: number
  /** Number of servers that lost only the commits that were cut from the WAL. */
  readonly behind: number
}

interface Target {
  readonly sandbox: Sandbox
  readonly token: string
  /** The answers of the undamaged file, by path. */
  readonly truth: ReadonlyMap<string, string>
  /** The newest audit entry covered by a checkpoint, and the entries listed up to it. */
  readonly anchored: { readonly seq: number; readonly shown: string }
  readonly damages: readonly Damage[]
  /** Path of the file to damage; its WAL lies beside it. */
  readonly path: string
}

/**
 * Damages copies of files and checks that a server refuses each copy, answers correctly, or answers with an error.
 */
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
    const target = await prepareTarget(seed, choice)
    for (const damage of target.damages) {
      onDamage?.(damage)
      await checkDamage(target, damage, found)
    }
    rmSync(target.sandbox.dir, { recursive: true })
  }
  return found
}

const pathOf = (sandbox: Sandbox): string => sandbox.env.PERDURE_STORAGE_PATH ?? ''
const auditPathOf = (sandbox: Sandbox): string => sandbox.env.PERDURE_AUDIT_PATH ?? ''

interface Choice {
  readonly signal: NodeJS.Signals
  readonly isAudited?: boolean
  readonly choose: (path: string) => readonly Damage[]
}

async function prepareTarget(seed: number, { signal, isAudited = false, choose }: Choice): Promise<Target> {
  const world = await openWorld({ seed, sandbox: isAudited ? createAuditedSandbox() : createSandbox() })
  try {
    await playScenario(world, 'one')
    let anchored = { seq: 0, shown: '[]' }
    if (isAudited) {
      // A clean stop writes a checkpoint that covers the entries so far.
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
    const path = isAudited ? auditPathOf(world.sandbox) : pathOf(world.sandbox)
    return { sandbox: world.sandbox, token: world.token, truth, anchored, path, damages: choose(path) }
  } finally {
    await world.end({ isKept: true })
  }
}

const AUDIT = '/audit?order=asc&limit=200'

/** Removes `lastUsedAt`, which the server updates only now and then. */
const withoutUse = (body: string): string => body.replaceAll(/"lastUsedAt":"[^"]*",?/g, '')

interface Found {
  readonly violations: string[]
  refused: number
  served: number
  unseen: number
  behind: number
}

async function checkDamage(target: Target, damage: Damage, found: Found): Promise<void> {
  const sandbox = copyOf(target.sandbox)
  try {
    for (const violation of await checkDamagedCopy(target, { sandbox, damage }, found)) {
      found.violations.push(`${damage.name} of ${basename(target.path)}: ${violation}`)
    }
  } finally {
    rmSync(sandbox.dir, { recursive: true })
  }
}

async function checkDamagedCopy(
  target: Target,
  { sandbox, damage }: { readonly sandbox: Sandbox; readonly damage: Damage },
  found: Found,
): Promise<readonly string[]> {
  const path = join(sandbox.dir, basename(target.path))
  damage.apply(path + damage.of)
  const before = hashOf(path)
  const isSeen = damage.expects !== 'truth or error' || findsSomething(path)
  let server: RunningServer
  try {
    server = await startServer(sandbox, SERVE)
  } catch (error) {
    found.refused++
    const message = String(error)
    const isNamed = message.includes('exited with 2') && REFUSALS.test(message)
    return [
      ...(isNamed && damage.expects !== 'truth' ? [] : [message]),
      ...(hashOf(path) === before ? [] : ['the file was changed']),
    ]
  }
  if (isSeen) found.served++
  else found.unseen++
  const wrongAnswers = await CHECKS[damage.expects](server, target, found)
  const { code, signal } = await server.kill('SIGTERM')
  return [
    ...(isSeen ? wrongAnswers : []),
    ...(code === 0 || code === 70 ? [] : [`exited with ${code ?? signal}`]),
    ...(damage.expects === 'earlier snapshot' ? inspectCopy(path) : []),
  ]
}

type Check = (server: RunningServer, target: Target, found: Found) => Promise<readonly string[]>

const CHECKS: Readonly<Record<Damage['expects'], Check>> = {
  refused: async () => ['it was served'],
  'truth or error': readAll,
  truth: readAll,
  async 'earlier snapshot'(server, { token, truth }, found) {
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
  async 'audit damage detected'(server, target) {
    return [...(await readAll(server, target)), ...(await wrongAuditAnswers(server, target))]
  },
}

async function get({ url }: RunningServer, path: string, token: string) {
  const response = await fetch(url + path, { headers: bearer(token) }).catch(() => undefined)
  return { status: response?.status ?? 0, body: withoutUse((await response?.text()) ?? '') }
}

/** Returns answers that are neither correct nor an error. */
async function readAll(server: RunningServer, { token, truth }: Target): Promise<readonly string[]> {
  const wrongAnswers: string[] = []
  for (const [path, expected] of truth) {
    const { status, body } = await get(server, path, token)
    if (status === 0) break
    if (status < 400 && body !== expected) wrongAnswers.push(`${path} answered ${body.slice(0, 200)}`)
    if (status >= 400 && status < 500) wrongAnswers.push(`${path} answered ${status} ${body}`)
  }
  return wrongAnswers
}

/**
 * Returns what is wrong with the audit answers: untyped errors, and a chain that passes verification although entries
 * below a checkpoint are lost or altered.
 */
async function wrongAuditAnswers(server: RunningServer, { token, anchored }: Target): Promise<readonly string[]> {
  const verified = await verifyAudit(server, token)
  const { status, body } = await get(server, AUDIT, token)
  if (verified.status >= 500 || status >= 500) {
    return [verified.text, body].filter((text) => text.includes('"internal-error"'))
  }
  const isShown = verified.status !== 200 || !verified.ok
  const shown = anchoredOf(body, anchored.seq)
  if (isShown || (verified.entries >= anchored.seq && shown === anchored.shown)) return []
  return [`the audit log passes verification, but its entries up to ${anchored.seq} are ${shown.slice(0, 200)}`]
}

async function verifyAudit(server: RunningServer, token: string) {
  const response = await fetch(`${server.url}/audit/verify`, { method: 'POST', headers: bearer(token), body: '{}' })
  const text = await response.text()
  const { ok = false, entries = 0 } = JSON.parse(text) as { readonly ok?: boolean; readonly entries?: number }
  return { status: response.status, text, ok, entries }
}

/** The entries up to `seq` of a list in ascending order. */
function anchoredOf(list: string, seq: number): string {
  const { items = [] } = JSON.parse(list) as { readonly items?: readonly { readonly seq: number }[] }
  return JSON.stringify(items.filter((item) => item.seq <= seq))
}

function copyOf({ dir: from, env }: Sandbox): Sandbox {
  const dir = mkdtempSync(join(tmpdir(), 'perdure-damage-'))
  for (const file of readdirSync(from)) {
    if (/^(data|audit)\.db(-wal|.*checkpoints)?$/.test(file)) copyFileSync(join(from, file), join(dir, file))
  }
  const audit = env.PERDURE_AUDIT_PATH === undefined ? {} : { PERDURE_AUDIT_PATH: join(dir, 'audit.db') }
  return { dir, env: { ...env, ...audit, PERDURE_STORAGE_PATH: join(dir, 'data.db') } }
}

/** Hashes the file and its WAL; an empty WAL equals a missing one. */
function hashOf(path: string): string {
  const hash = createHash('sha256')
  for (const file of [path, `${path}-wal`]) if (existsSync(file)) hash.update(readFileSync(file))
  return hash.digest('hex')
}

/** Errors that the damage may cause; the schema version is stored in the file too. */
const REFUSALS = /error\[(storage-corrupt|migration-failed|storage-newer-schema|encryption-passphrase-wrong)\]/

/** Whether SQLite detects the damage; it checks the structure of pages, not their values. */
function findsSomething(path: string): boolean {
  try {
    return withCopy(path, (database) => database.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok')
  } catch {
    return true
  }
}
