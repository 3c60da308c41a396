import { request as openRequest } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HookPlatform } from '../packages/protocol/src/config/hooks.ts'
import { type DurableServer, eventually, startDurableServer } from './durable-server.ts'
import { createMovableClock } from './faked-clock.ts'
import { HOOK_SECRET, HOOK_SENDERS } from './hook-senders.ts'
import { type CommitKiller, createCommitKiller } from './killed-at-commit.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/hooks.config.mjs')
const PLATFORMS = Object.keys(HOOK_SENDERS) as readonly HookPlatform[]

/** `CRASH_POINTS=all` kills after each commit of a delivery of each platform, otherwise after each with one platform. */
const IS_LONG = process.env.CRASH_POINTS === 'all'
/** More commits than a delivery has. */
const NEVER = 1_000

interface World {
  readonly server: DurableServer
  readonly killer: CommitKiller
  readonly now: () => number
  readonly pass: (ms: number) => void
}

interface Delivery {
  readonly platform: HookPlatform
  readonly order: string
}

interface Handled {
  readonly status: string
  readonly input: { readonly order: string }
}

function createWorld(server: DurableServer, killer: CommitKiller, move: (ms: number) => void): World {
  let ahead = 0
  const pass = (ms: number) => {
    ahead += ms
    move(ms)
  }
  return { server, killer, pass, now: () => Date.now() + ahead }
}

const runsOf = ({ server }: World) => server.itemsOf<Handled>('/runs?agentId=handle&include=input&limit=200&order=asc')

/** Restarts a server that was killed, as often as the plan kills it while it starts. */
async function revive(world: World, plan: number[]): Promise<void> {
  while (world.killer.peek().hasKilled) {
    world.killer.arm(plan.shift() ?? NEVER)
    await restart(world)
  }
}

async function restart({ server, killer }: World): Promise<void> {
  await server.kill('SIGKILL')
  await server.start().catch((error: unknown) => {
    if (!killer.peek().hasKilled) throw error
  })
}

/** Waits until every stored delivery of the platform has been handled, as it is long before the next retry. */
async function settle(world: World, { platform }: Delivery, plan: number[]): Promise<void> {
  const unhandled = async () => {
    await revive(world, plan)
    const stored = await world.server.itemsOf(`/hooks/${platform}/deliveries?limit=200`)
    const runs = (await runsOf(world)).filter(({ input }) => input.order.startsWith(platform))
    const open = runs.filter(({ status }) => status !== 'completed')
    return { open, unstarted: stored.length - runs.length }
  }
  await eventually(() => unhandled().catch(String)).toEqual({ open: [], unstarted: 0 })
}

async function statusOf({ server, now }: World, { platform, order }: Delivery): Promise<number> {
  const { body, headers } = HOOK_SENDERS[platform].attempt(order, now())
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }
  const response = await fetch(`${server.url()}/hooks/${platform}`, init)
  await response.text()
  return response.status
}

/** Sends the first half of a request, and kills the server. */
async function cutInHalf({ server, killer, now }: World, { platform, order }: Delivery): Promise<void> {
  const { body, headers } = HOOK_SENDERS[platform].attempt(order, now())
  const length = { 'content-length': String(Buffer.byteLength(body)) }
  const request = openRequest(`${server.url()}/hooks/${platform}`, {
    method: 'POST',
    headers: { ...headers, ...length },
  })
  const isCut = new Promise((resolve) => request.once('error', resolve))
  await new Promise((resolve) => request.write(body.slice(0, body.length / 2), resolve))
  killer.arm(0)
  await server.kill('SIGKILL')
  await isCut
}

/**
 * Delivers as the platform does while the plan kills the server, each time after that many commits; 0 kills it before
 * the request has arrived. The platform retries on its schedule until it is answered, and once more: it may miss the answer.
 *
 * @returns the most commits of a process
 */
async function deliver(world: World, delivery: Delivery, plan: number[]): Promise<number> {
  const { killer } = world
  const waitsMs = [...HOOK_SENDERS[delivery.platform].waitsMs]
  const [first = NEVER] = plan.splice(0, 1)
  killer.arm(first === 0 ? NEVER : first)
  if (first === 0) await cutInHalf(world, delivery)
  let commits = 0
  for (let answers = 0; answers < 2; ) {
    const status = await statusOf(world, delivery).catch((error: unknown) => error)
    commits = Math.max(commits, killer.peek().commits)
    await settle(world, delivery, plan)
    if (status === 200) answers += 1
    else if (status instanceof TypeError) await passUntilRetry(world, plan, waitsMs.shift())
    else throw new Error(`${JSON.stringify(delivery)} got ${status}`)
  }
  commits = Math.max(commits, killer.peek().commits)
  killer.disarm()
  return commits
}

async function passUntilRetry(world: World, plan: number[], waitMs: number | undefined): Promise<void> {
  if (waitMs === undefined) throw new Error('the platform has given up')
  world.pass(waitMs)
  // A running server does not trust a clock that jumps.
  await restart(world)
  await revive(world, plan)
}

/** The kills of each delivery: the server dies after each commit, and the next process after one of its own. */
function* plansOf(commits: number): Generator<readonly [HookPlatform, readonly number[]]> {
  for (let nth = 0; nth <= commits; nth++) {
    const platforms = IS_LONG ? PLATFORMS : [PLATFORMS[nth % PLATFORMS.length] as HookPlatform]
    for (const [index, platform] of platforms.entries()) yield [platform, [nth, 1 + ((nth + index) % commits)]]
  }
}

describe('a delivery whose server is killed', () => {
  it('is handled once, whichever commit is the last before the kill, when the platform retries on its schedule', async () => {
    const [killer, clock] = [createCommitKiller(), createMovableClock()]
    const clockEnv: NodeJS.ProcessEnv = clock.env
    const NODE_OPTIONS = `${clockEnv.NODE_OPTIONS} ${killer.env.NODE_OPTIONS}`
    const server = await startDurableServer(CONFIG, { ...clock.env, ...killer.env, NODE_OPTIONS, HOOK_SECRET })
    const world = createWorld(server, killer, clock.move)
    const deliveries: Delivery[] = []
    const add = (platform: HookPlatform) => {
      const delivery = { platform, order: `${platform}-${deliveries.length}` }
      deliveries.push(delivery)
      return delivery
    }

    const commits = await deliver(world, add('standard-webhooks'), [])
    expect(commits).toBeGreaterThan(2)
    for (const [platform, plan] of plansOf(commits)) await deliver(world, add(platform), [...plan])

    const handled = (await runsOf(world)).map(({ input }) => input.order)
    expect(handled.toSorted()).toEqual(deliveries.map(({ order }) => order).toSorted())
    expect([...new Set(server.ledger())].toSorted()).toEqual(handled.toSorted())
    for (const platform of PLATFORMS) {
      const stored = await server.itemsOf<Handled>(`/hooks/${platform}/deliveries?limit=200`)
      const sent = deliveries.filter((delivery) => delivery.platform === platform)
      expect(stored.map(({ status }) => status)).toEqual(sent.map(() => 'accepted'))
    }
    console.log(`${deliveries.length} deliveries of ${commits} commits each`)
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  }, 7_200_000)
})

describe('deliveries in another order than that of their events', () => {
  it('are each handled once, although repetitions arrive before, between and after newer ones', async () => {
    const server = await startDurableServer(CONFIG, { HOOK_SECRET })
    const world = createWorld(server, createCommitKiller(), () => undefined)
    const sent: Delivery[] = PLATFORMS.flatMap((platform) =>
      [1, 2, 3, 4].map((number) => ({ platform, order: `${platform}-${number}` })),
    )
    // The newest first, then the oldest, then all of them at once.
    for (const deliveries of [sent.toReversed(), sent]) {
      for (const delivery of deliveries) expect(await statusOf(world, delivery)).toBe(200)
    }
    expect(await Promise.all(sent.map((delivery) => statusOf(world, delivery)))).toEqual(sent.map(() => 200))
    await eventually(async () => (await runsOf(world)).length).toBe(sent.length)
    const unended = async () => (await runsOf(world)).filter(({ status }) => status !== 'completed')
    await eventually(unended).toEqual([])

    const handled = (await runsOf(world)).map(({ input }) => input.order)
    const orders = sent.map(({ order }) => order)
    expect(handled).toHaveLength(orders.length)
    expect(handled.toSorted()).toEqual(orders.toSorted())
    expect(server.ledger().toSorted()).toEqual(orders.toSorted())
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})
