import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { bearer, type Place, type RunningServer, startServer } from '../berth-process.ts'
import { withCopy } from './database-copy.ts'
import { everyItem } from './run-checks.ts'
import { playScenario } from './scenario.ts'
import { openWorld, SERVE } from './world.ts'

export interface DamageOptions {
  readonly seed: number
  readonly flips: number
  readonly cuts: number
}

export interface DamageReport {
  readonly violations: readonly string[]
  /** Starts that were refused by name. */
  readonly refused: number
  /** Servers that started, and on reading answered the truth or an error. */
  readonly served: number
  /** Copies in which SQLite itself finds nothing wrong: a changed value in a page, or space that nobody uses. */
  readonly unseen: number
}

interface Victim {
  readonly place: Place
  readonly token: string
  /** What the whole file answers, by path. */
  readonly truth: ReadonlyMap<string, string>
}

interface Damage {
  readonly name: string
  apply(path: string): void
}

/** Damages copies of a file and looks what becomes of a server on each: refused, honest, or an error. */
export async function damageFiles({ seed, flips, cuts }: DamageOptions): Promise<DamageReport> {
  const random = createRandom(seed)
  const found: Found = { violations: [], refused: 0, served: 0, unseen: 0 }
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const victim = await makeVictim(seed, signal)
    const size = readFileSync(pathOf(victim.place)).length
    const damages = [
      ...Array.from({ length: flips }, () => flip(Math.floor(random() * size), 1 + Math.floor(random() * 255))),
      ...Array.from({ length: cuts }, () => cut(Math.floor(random() * size))),
      text,
    ]
    for (const damage of damages) await judge(victim, damage, found)
    rmSync(victim.place.dir, { recursive: true })
  }
  return found
}

const flip = (offset: number, mask: number): Damage => ({
  name: `byte ${offset} xor ${mask}`,
  apply(path) {
    const bytes = readFileSync(path)
    bytes[offset] = (bytes[offset] ?? 0) ^ mask
    writeFileSync(path, bytes)
  },
})
const cut = (length: number): Damage => ({ name: `cut to ${length}`, apply: (path) => truncateSync(path, length) })
const text: Damage = { name: 'a text', apply: (path) => writeFileSync(path, 'Dear diary,\n'.repeat(2_000)) }

const pathOf = (place: Place): string => place.env.BERTH_STORAGE_PATH ?? ''

async function makeVictim(seed: number, signal: NodeJS.Signals): Promise<Victim> {
  const world = await openWorld({ seed })
  try {
    await playScenario(world, 'one')
    const paths = ['/runs?limit=200', '/sessions', '/memory/blocks', '/tokens', '/audit?limit=200', '/approvals']
    for (const { id } of await everyItem(world, '/runs')) paths.push(`/runs/${id}`, `/runs/${id}/events?limit=200`)
    const truth = new Map<string, string>()
    for (const path of paths) truth.set(path, withoutUse((await world.ask({ method: 'GET', path })).text))
    await world.kill(signal)
    return { place: world.place, token: world.token, truth }
  } finally {
    await world.end({ isKept: true })
  }
}

/** When a token was last used is noted now and then. */
const withoutUse = (body: string): string => body.replaceAll(/"lastUsedAt":"[^"]*",?/g, '')

interface Found {
  readonly violations: string[]
  refused: number
  served: number
  unseen: number
}

async function judge(victim: Victim, damage: Damage, found: Found): Promise<void> {
  const place = copyOf(victim.place)
  try {
    await judgeCopy(victim, { place, damage }, found)
  } finally {
    rmSync(place.dir, { recursive: true })
  }
}

async function judgeCopy(victim: Victim, { place, damage }: { place: Place; damage: Damage }, found: Found) {
  const path = pathOf(place)
  damage.apply(path)
  const before = hashOf(path)
  const isSeen = findsSomething(path)
  let server: RunningServer
  try {
    server = await startServer(place, SERVE)
  } catch (error) {
    found.refused++
    const message = String(error)
    if (!message.includes('ended with 2') || !REFUSALS.test(message)) {
      found.violations.push(`${damage.name}: ${message}`)
    }
    if (hashOf(path) !== before) found.violations.push(`${damage.name}: the file was changed`)
    return
  }
  if (isSeen) found.served++
  else found.unseen++
  const lies = await readAll(server, victim)
  if (isSeen) found.violations.push(...lies.map((lie) => `${damage.name}: ${lie}`))
  const { code, signal } = await server.kill('SIGTERM')
  if (code !== 0 && code !== 70) found.violations.push(`${damage.name}: ended with ${code ?? signal}`)
}

function copyOf({ env }: Place): Place {
  const dir = mkdtempSync(join(tmpdir(), 'berth-damage-'))
  const [from, to] = [env.BERTH_STORAGE_PATH ?? '', join(dir, 'data.db')]
  for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix)
  return { dir, env: { ...env, BERTH_STORAGE_PATH: to } }
}

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

/** What the damage may be taken for: the versions of the schema are noted in the file too. */
const REFUSALS = /error\[(storage-corrupt|migration-failed|storage-newer-schema)\]/

/** Whether SQLite reports the file: of its pages, not of what stands in them. */
function findsSomething(path: string): boolean {
  try {
    return withCopy(path, (database) => database.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok')
  } catch {
    return true
  }
}

/** Answers that are neither the truth nor an error. */
async function readAll(server: RunningServer, { token, truth }: Victim): Promise<readonly string[]> {
  const lies: string[] = []
  for (const [path, expected] of truth) {
    const response = await fetch(server.url + path, { headers: bearer(token) }).catch(() => undefined)
    if (response === undefined) break
    const body = withoutUse(await response.text())
    if (response.status < 400 && body !== expected) lies.push(`${path} answered ${body.slice(0, 200)}`)
    if (response.status >= 400 && response.status < 500) lies.push(`${path} answered ${response.status} ${body}`)
  }
  return lies
}
