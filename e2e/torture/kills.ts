import { followBySse, followByWebSocket, gapsOf, idsOf } from '../realtime-client.ts'
import { pickAction, type Verify } from './client-actions.ts'
import { checkInvariants } from './invariants.ts'
import { everyItem, expectSame } from './run-checks.ts'
import { openWorld, pause, type World, type WorldOptions } from './world.ts'

export interface KillsOptions extends WorldOptions {
  readonly kills: number
  readonly workers: number
  /** The server is killed after a random time in this range. */
  readonly uptimeMs: readonly [min: number, max: number]
  /** Restarts of the database server, among the kills of the server, and how to do one. */
  readonly restarts?: number
  readonly restartDatabase?: () => Promise<void>
  /** Called before each kill or restart, with its number. */
  readonly onKill?: (world: World, kill: number) => void | Promise<void>
}

export interface Report {
  readonly violations: readonly string[]
  readonly actions: number
  readonly requests: number
  readonly kills: number
  readonly restarts: number
  /** Milliseconds from a start to the first healthy answer, ascending. */
  readonly outages: readonly number[]
}

/** Runs clients while the server is killed, or its database restarted, at random moments, then checks every invariant. */
export async function runKills(options: KillsOptions): Promise<Report> {
  const { workers, uptimeMs, onKill } = options
  const world = await openWorld(options)
  try {
    await prepare(world)
    const followers = follow(world)
    await Promise.all(followers.map(({ following }) => following))
    const verifies: Verify[] = []
    let isLast = false
    const worker = async (number: number) => {
      for (let n = 0; !isLast; n++) {
        const name = `w${number}-${n}`
        verifies.push(await pickAction(world.random)(world, name))
        // Repeats some requests, as a client that never saw the answer would.
        const recorded = world.recorded.get(name)
        if (recorded !== undefined && world.random() < 0.2) await world.ask(recorded.ask)
      }
    }
    const work = Promise.all(Array.from({ length: workers }, (_, number) => worker(number)))
    work.catch(() => {
      isLast = true
    })
    for (const [number, strike] of strikesOf(options, world.random).entries()) {
      if (isLast) break
      const before = world.counts.acknowledged
      await pause(uptimeMs[0] + world.random() * (uptimeMs[1] - uptimeMs[0]))
      // Before every second kill, wait until a request was acknowledged, so that slow machines make progress too.
      while (number % 2 === 1 && world.counts.acknowledged === before && !isLast) await pause(5)
      await onKill?.(world, number)
      if (strike === 'restart') await survive(world, options)
      else {
        await world.kill()
        await world.start()
      }
    }
    isLast = true
    if (!(await endsWithin(STALLED_MS, work))) world.violate('I5', 'a client request was never answered')
    await world.kill()
    await world.start()
    await checkInvariants(world, verifies)
    await checkFollowers(world, followers)
    for (const follower of followers) await follower.stop()
    expectSame(world, 'I5', 'exit after SIGTERM', [{ code: 0, signal: null }, await world.server().kill('SIGTERM')])
    return reportOf(world, verifies.length, options.restarts)
  } finally {
    await world.end()
  }
}

const STALLED_MS = 120_000

async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  const isDone = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return isDone
}

/** The kills and restarts, in random order. */
function strikesOf({ kills, restarts = 0 }: KillsOptions, random: () => number): readonly ('kill' | 'restart')[] {
  let left = restarts
  return Array.from({ length: kills + restarts }, (_, index) => {
    const isRestart = random() < left / (kills + restarts - index)
    if (isRestart) left--
    return isRestart ? 'restart' : 'kill'
  })
}

/** Restarts the database, which the server must outlast. */
async function survive(world: World, { restartDatabase }: KillsOptions): Promise<void> {
  const server = world.server()
  await restartDatabase?.()
  await world.inspect()
  const { exitCode, signalCode } = server.process
  if (exitCode === null && signalCode === null) return
  world.violate(
    'I5',
    `the server exited with ${exitCode ?? signalCode} when its database restarted: ${server.stderr()}`,
  )
  await world.start()
}

export const reportOf = ({ violations, counts, outages }: World, actions: number, restarts = 0): Report => ({
  ...{ violations, actions, requests: counts.requests, kills: counts.kills, restarts },
  outages: outages.toSorted((one, other) => one - other),
})

/** Creates what the actions share: a session that many runs use, and a trigger. */
export async function prepare(world: World): Promise<void> {
  await world.ask({ path: '/sessions', key: 'prepare-hall', body: { id: 'hall' } })
  const target = { agentId: 'ledger', input: { beforeMs: 5, afterMs: 5 } }
  const bell = { id: 'bell', kind: 'event', event: 'ring', overlap: 'allow', target }
  const { status, text } = await world.ask({ path: '/triggers', key: 'prepare-bell', body: bell })
  if (status !== 201) throw new Error(text)
}

function follow(world: World) {
  const { token } = world
  const options = {
    url: () => world.server().url,
    token,
    subject: 'session:hall/events',
    path: '/sessions/hall/events',
  }
  return [followBySse(options), followByWebSocket(options)]
}

/** I8 for followers across kills: every event once, in order, without a gap. */
async function checkFollowers(world: World, followers: ReturnType<typeof follow>): Promise<void> {
  const recorded = (await everyItem(world, '/sessions/hall/replay', 'POST')).map(({ eventId }) => eventId)
  for (const follower of followers) {
    const first = idsOf(follower)[0]
    if (first === undefined) continue
    const expected = recorded.slice(recorded.indexOf(first))
    for (let n = 0; n < 1_200 && idsOf(follower).length < expected.length; n++) await pause(50)
    expectSame(world, 'I8', 'followed events', [expected, idsOf(follower)])
    expectSame(world, 'I8', 'gaps', [0, gapsOf(follower)])
  }
}
