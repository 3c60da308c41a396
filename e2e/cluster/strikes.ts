import { clockAt } from '../faked-clock.ts'
import { pause } from './client.ts'
import type { Database } from './database.ts'
import type { Node, Nodes } from './nodes.ts'
import type { Primary } from './primary.ts'

export interface Arena {
  readonly nodes: Nodes
  readonly primary: Primary
  readonly database: Database
  /** The schema of the nodes. */
  readonly schema: string
  /** The faults at this moment. */
  readonly faults: Faults
  /** Returns a random integer from `min` to `max`. */
  readonly between: (min: number, max: number) => number
  /** How long a process is paused, in milliseconds. */
  readonly pausesMs: readonly [min: number, max: number]
  /** Called when a node does what it must not do. */
  readonly violate: (violation: string) => void
}

export interface Faults {
  readonly nodes: Set<Node>
  isDatabaseStruck: boolean
  /** When the last fault of a node ended, and that of the database: afterwards, the processes have to reconnect. */
  readonly endedAtMs: Map<Node | 'database', number>
}

/** How long a process may need to reconnect after a fault. */
const RECONNECT_MS = 2_000

/** The nodes that no fault holds up at this moment, or shortly before; `undefined` for a fault of the database. */
export function unhinderedNodes(all: readonly Node[], faults: Faults): readonly Node[] | undefined {
  const hasEnded = (one: Node | 'database') =>
    performance.now() - (faults.endedAtMs.get(one) ?? Number.NEGATIVE_INFINITY) >= RECONNECT_MS
  if (faults.isDatabaseStruck || !hasEnded('database')) return undefined
  return all.filter((node) => !faults.nodes.has(node) && hasEnded(node))
}

/** A fault of one node. */
type NodeStrike = (arena: Arena, node: Node) => Promise<void>

/** A fault of the database, or of one node after the other. */
type CommonStrike = (arena: Arena) => Promise<void>

const heals =
  (break_: (node: Node, arena: Arena) => void, holdMs: readonly [number, number]): NodeStrike =>
  async (arena, node) => {
    break_(node, arena)
    await pause(arena.between(...holdMs))
    node.network.heal()
  }

const NODE_STRIKES = {
  kill: (_, node) => node.restart('SIGKILL'),
  pause: async ({ between, pausesMs }, node) => {
    node.signal('SIGSTOP')
    await pause(between(...pausesMs))
    node.signal('SIGCONT')
  },
  /**
   * Pauses a process whose commits are still on their way to the database, which receives them when others have given
   * the process up and recovered its runs.
   */
  'late commits': async ({ between, database }, node) => {
    const pid = node.pid()
    node.network.lose('requests')
    await pause(between(20, 400))
    node.signal('SIGSTOP')
    for (const until = performance.now() + GIVEN_UP_MS; performance.now() < until; await pause(200)) {
      if (pid === undefined || (await database.hasForgotten(pid).catch(() => false))) break
    }
    node.network.heal()
    await pause(200)
    node.signal('SIGCONT')
  },
  cut: async (_, node) => node.network.cut(),
  shut: heals(({ network }) => network.shut(), [200, 8_000]),
  delay: heals(({ network }, { between }) => network.delay(between(20, 5_000)), [1_000, 6_000]),
  /** Commits take effect at once, but their server learns it late: others may have gone on by then. */
  'late responses': heals(
    ({ network }, { between }) => network.delay(between(200, 1_200), 'responses'),
    [4_000, 9_000],
  ),
  'half-open': heals(({ network }) => network.halfOpen(), [1_000, 8_000]),
  'lost requests': heals(({ network }) => network.lose('requests'), [500, 6_000]),
  'lost responses': heals(({ network }) => network.lose('responses'), [500, 6_000]),
  /** The clock of a running process is set to another time, and later set right. */
  'stepped clock': async ({ between }, node) => {
    const step = CLOCK_STEPS_MS[between(0, CLOCK_STEPS_MS.length - 1)] ?? 0
    node.moveClock(step)
    await pause(between(1_000, 8_000))
    node.moveClock(-step)
  },
} satisfies Record<string, NodeStrike>

const DAY_MS = 86_400_000
const CLOCK_STEPS_MS = [1_000, 25 * 3_600_000, 3_652 * DAY_MS].flatMap((ms) => [ms, -ms])

const COMMON_STRIKES = {
  'crash of PostgreSQL': ({ primary }) => primary.crash(),
  'promoted standby': ({ primary }) => primary.failOver(),
  /** Nodes that have seen the promoted standby are led back to the old primary, as by a load balancer that flaps. */
  'flapping primary': ({ primary, nodes, between }) => primary.flap(() => untilReady(nodes.all), between(500, 5_000)),
  /** Nodes that have seen a promoted standby are led to another standby that was promoted as well. */
  'forked primary': ({ primary, nodes, between, schema }) =>
    primary.fork(() => untilReady(nodes.all), between(500, 5_000), schema),
  'terminated sessions': async ({ database, between }) =>
    database.terminate(between(1, 10) / 10).catch(() => undefined),
  /** New connections are refused while the sleepers hold the rest of `max_connections`. */
  'exhausted connections': async ({ database, between }) => {
    const sleeping = database.occupy(SLEEPERS, between(1_000, 4_000))
    await pause(200)
    await database.terminate(0.5).catch(() => undefined)
    await sleeping
  },
  'wrong clock': async ({ nodes, between, violate }) => {
    const [node] = nodes.all
    const instant = new Date(Date.now() + (between(0, 1) === 0 ? -1 : 1) * 3_600_000).toISOString().slice(0, 19)
    const refusal = await node?.refusalWith(clockAt({ dir: '', env: {} }, instant).env)
    if (refusal === undefined) violate(`a server joined although its clock was at ${instant}`)
  },
  'rolling restart': async ({ nodes }) => {
    for (const node of nodes.all) await node.restart('SIGTERM')
  },
} satisfies Record<string, CommonStrike>

const SLEEPERS = 30

const HOLDS_ALL: ReadonlySet<StrikeName> = new Set(['rolling restart', 'flapping primary', 'forked primary'])

async function untilReady(nodes: readonly Node[]): Promise<void> {
  for (const until = performance.now() + READY_MS; performance.now() < until; await pause(200)) {
    if ((await Promise.all(nodes.map((node) => node.isReady()))).every(Boolean)) return
  }
  throw new Error('a node was not ready on the promoted standby')
}

const READY_MS = 60_000

/** A paused process is given up and its runs are recovered within this time, unless the database is away. */
const GIVEN_UP_MS = 15_000

export type StrikeName = keyof typeof NODE_STRIKES | keyof typeof COMMON_STRIKES

export const STRIKES = [...Object.keys(NODE_STRIKES), ...Object.keys(COMMON_STRIKES)] as readonly StrikeName[]

export interface StrikeOptions {
  readonly names: readonly StrikeName[]
  readonly gapMs: readonly [min: number, max: number]
  /** Whether to go on. */
  readonly isOn: () => boolean
  readonly onStrike: (name: StrikeName, node: string | undefined) => void
}

/**
 * Strikes at random moments, in a random order in which every strike has its turn. Strikes on different nodes overlap.
 * Resolves when the last one is over and every node is whole again.
 */
export async function strike(arena: Arena, { names, gapMs, isOn, onStrike }: StrikeOptions): Promise<void> {
  const { nodes, between, faults } = arena
  const struck = faults.nodes
  const open = new Set<Promise<void>>()
  let bag: StrikeName[] = []

  const begin = (work: () => Promise<void>) => {
    const one: Promise<void> = work().finally(() => open.delete(one))
    one.catch(() => undefined)
    open.add(one)
    return one
  }
  const hold = async (held: readonly Node[], work: () => Promise<void>) => {
    for (const node of held) struck.add(node)
    await work().finally(() => {
      for (const node of held) {
        struck.delete(node)
        faults.endedAtMs.set(node, performance.now())
      }
    })
  }

  while (isOn()) {
    if (bag.length === 0) bag = [...names]
    const [name] = bag.splice(between(0, bag.length - 1), 1)
    if (name === undefined) break
    if (isNodeStrike(name)) {
      while (nodes.all.every((node) => struck.has(node))) await Promise.race(open)
      const free = nodes.all.filter((node) => !struck.has(node))
      const node = free[between(0, free.length - 1)]
      if (node === undefined) continue
      onStrike(name, node.name)
      begin(() => hold([node], () => NODE_STRIKES[name](arena, node)))
    } else {
      // These need every node; the other faults of the database do not last.
      const holdsAll = HOLDS_ALL.has(name)
      if (holdsAll) await Promise.all(open)
      onStrike(name, undefined)
      faults.isDatabaseStruck = true
      await begin(() => hold(holdsAll ? nodes.all : [], () => COMMON_STRIKES[name](arena)))
      faults.isDatabaseStruck = false
      faults.endedAtMs.set('database', performance.now())
    }
    await pause(between(...gapMs))
  }
  await Promise.all(open)
}

const isNodeStrike = (name: StrikeName): name is keyof typeof NODE_STRIKES => Object.hasOwn(NODE_STRIKES, name)
