import { existsSync, readFileSync } from 'node:fs'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { createSandbox, createToken, removeFolder } from '../perdure-process.ts'
import { followBySse, followByWebSocket, gapsOf, idsOf } from '../realtime-client.ts'
import { inspectionOf } from '../torture/inspection.ts'
import { createClient, pause } from './client.ts'
import { createDatabase } from './database.ts'
import { readDump } from './dump.ts'
import { openFrontProxy } from './front-proxy.ts'
import type { Dump, LedgerLine } from './history.ts'
import { judge } from './judge.ts'
import { prepare, startLoad } from './load.ts'
import { openNodes } from './nodes.ts'
import { observeLeftovers } from './observe-leftovers.ts'
import { openPrimary } from './primary.ts'
import { type Faults, type StrikeName, strike, unhinderedNodes } from './strikes.ts'

export interface AttackOptions {
  readonly seed: number
  readonly nodes: number
  readonly seconds: number
  readonly clients: number
  readonly strikes: readonly StrikeName[]
  readonly pausesMs: readonly [min: number, max: number]
  readonly say?: (line: string) => void
}

export interface Report {
  readonly violations: readonly string[]
  readonly strikes: Readonly<Record<string, number>>
  readonly actions: number
  readonly requests: number
  readonly runs: number
  readonly followed: number
  /** Tickets that opened a socket. */
  readonly sockets: number
  /** How long something belonged to a process without a lease while another process could recover it. */
  readonly longestLeftoverMs: number
  /** Processes that exited by themselves, by exit code. */
  readonly exits: Readonly<Record<string, number>>
}

/** Lets clients work with several servers on one schema while faults strike, then judges what the clients saw. */
export async function attack(options: AttackOptions): Promise<Report> {
  const { seed, clients, say = () => undefined } = options
  const random = createRandom(seed)
  const primary = await openPrimary([`max_connections=${MAX_CONNECTIONS}`])
  const sandbox = createSandbox({
    ...{ E2E_DATABASE_URL: primary.url, PERDURE_STORAGE_LEASE_MS: String(LEASE_MS) },
    ...(options.nodes > 1 ? { PERDURE_STORAGE_CLUSTER: 'true' } : {}),
  })
  const admin = { name: 'admin', secret: await createToken(sandbox) }
  const nodes = await openNodes({ count: options.nodes, sandbox, databaseUrl: primary.url })
  const proxy = await openFrontProxy(nodes.ports)
  const client = createClient({ url: proxy.url, admin, random })
  const schema = sandbox.env.PERDURE_STORAGE_SCHEMA ?? ''
  const faults: Faults = { nodes: new Set(), isDatabaseStruck: false, endedAtMs: new Map() }
  const broken: string[] = []
  const strikes: Record<string, number> = {}
  try {
    await prepare(client)
    if (client.surprises.length > 0) throw new Error(client.surprises.join('\n'))
    const hall = { url: () => proxy.url, token: admin.secret, subject: 'session:hall/events' }
    const readers = [followBySse, followByWebSocket].map((follow) => follow({ ...hall, path: '/sessions/hall/events' }))
    await Promise.all(readers.map(({ following }) => following))
    const observer = observeLeftovers({
      ...{ url: primary.url, schema, leaseMs: LEASE_MS },
      unhindered() {
        const free = unhinderedNodes(nodes.all, faults)
        return free && new Set(free.flatMap((node) => node.pid() ?? []))
      },
    })
    const load = startLoad(client, clients)
    const began = performance.now()
    const arena = {
      ...{ nodes, primary, schema, database: createDatabase(primary.url, schema), faults, between: client.between },
      ...{ pausesMs: options.pausesMs, violate: (violation: string) => broken.push(violation) },
    }
    await strike(arena, {
      ...{ names: options.strikes, gapMs: [100, 2_500] },
      isOn: () => performance.now() - began < options.seconds * 1_000,
      onStrike(name, node) {
        strikes[name] = (strikes[name] ?? 0) + 1
        say(`${((performance.now() - began) / 1_000).toFixed(1)} s: ${name} ${node ?? ''}`)
      },
    })
    const sayWhen = (what: string) => say(`${((performance.now() - began) / 1_000).toFixed(1)} s: ${what}`)
    sayWhen('the strikes are over')
    if (!(await endsWithin(STALLED_MS, load.stop()))) broken.push('a request was never answered')
    await client.ask({ path: '/triggers/beat/disable', key: 'beat-disable' })
    if (!(await endsWithin(STALLED_MS, untilIdle(client)))) broken.push('runs stay active')
    sayWhen('every run is over')
    const leftovers = await observer.stop()
    const inspection = inspectionOf(sandbox)
    const dump = await readDump(client, await inspection.executingKeys())
    sayWhen('the stored data is read')
    await untilRead(readers, dump)
    sayWhen('the readers have every event')
    const readings = readers.map((reader, index) => ({
      ...{ reader: index === 0 ? 'SSE' : 'WebSocket', eventIds: idsOf(reader), gaps: gapsOf(reader) },
    }))
    for (const reader of readers) await reader.stop()
    const { exchanges, revocations, ticketUses } = client
    const history = { exchanges, revocations, ticketUses, readings, leftovers, ledger: readLedger(sandbox.env) }
    const logged = (surprise: string) => nodes.linesOf(/req_\w+/.exec(surprise)?.[0] ?? surprise).join(' ')
    for (const [text, count] of nodes.errors()) say(`${count} × ${text}`)
    const odd = nodes.exits.filter(({ code }) => !EXPECTED_EXITS.includes(code ?? 0))
    return {
      violations: [
        ...judge(history, dump),
        ...broken,
        ...nodes.refusals.filter((text) => FINAL_REFUSAL.test(text)),
        ...client.surprises.map((surprise) => `unexpected response: ${surprise} ${logged(surprise)}`),
        ...odd.map(({ node, code, stderr }) => `${node} exited with ${code}: ${stderr.slice(-2_000)}`),
        ...(await inspection.problems()),
      ],
      ...{ strikes, actions: load.actions(), requests: client.counts.requests, runs: dump.runs.length },
      followed: dump.followed.length,
      sockets: ticketUses.filter(({ accepted }) => accepted === 1).length,
      longestLeftoverMs: Math.round(Math.max(0, ...leftovers.map(({ ms }) => ms))),
      exits: Object.fromEntries(
        [...Map.groupBy(nodes.exits, ({ code }) => code)].map(([code, all]) => [code, all.length]),
      ),
    }
  } finally {
    client.end()
    await nodes.stop()
    await proxy.close()
    await primary.close()
    removeFolder(sandbox.dir)
  }
}

/** Three nodes with their pools fit; with the sleepers of a strike they do not. */
const MAX_CONNECTIONS = 60
const LEASE_MS = 3_000
const STALLED_MS = 120_000

/** A lost lease: the supervisor starts the next process. */
const EXPECTED_EXITS = [75]

/** A start that a supervisor does not repeat. */
const FINAL_REFUSAL = /exited with 2\b/

async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  const isDone = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return isDone
}

async function untilIdle(client: ReturnType<typeof createClient>): Promise<void> {
  for (const status of ['queued', 'running', 'suspended', 'queued', 'running']) {
    while ((await client.get(`/runs?status=${status}`)).body.items?.length !== 0) await pause(100)
  }
}

const READ_MS = 30_000

async function untilRead(readers: readonly Parameters<typeof idsOf>[0][], { followed }: Dump): Promise<void> {
  const isRead = () => readers.every((reader) => idsOf(reader).at(-1) === followed.at(-1))
  for (const until = performance.now() + READ_MS; !isRead() && performance.now() < until; ) await pause(50)
}

function readLedger({ E2E_LEDGER: path = '' }: NodeJS.ProcessEnv): readonly LedgerLine[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}
