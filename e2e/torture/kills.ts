import { followBySse, followByWebSocket, gapsOf, idsOf } from '../realtime-client.ts'
import { pickDeed, type Verify } from './deeds.ts'
import { checkInvariants } from './invariants.ts'
import { everyItem, expectSame } from './run-checks.ts'
import { openWorld, pause, type World, type WorldOptions } from './world.ts'

export interface KillsOptions extends WorldOptions {
  readonly kills: number
  readonly workers: number
  /** A life of the server ends at a random moment between these. */
  readonly lifeMs: readonly [least: number, most: number]
  /** Called before each kill, with its number. */
  readonly onKill?: (world: World, kill: number) => void | Promise<void>
}

export interface Report {
  readonly violations: readonly string[]
  readonly deeds: number
  readonly requests: number
  readonly kills: number
  /** Milliseconds from a start to the first healthy answer, in order of length. */
  readonly outages: readonly number[]
}

/** Clients at work while the server is killed at random moments; then every invariant. */
export async function runKills(options: KillsOptions): Promise<Report> {
  const { kills, workers, lifeMs, onKill } = options
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
        verifies.push(await pickDeed(world.random)(world, name))
        // Asks again now and then, as a client that never saw the answer.
        const kept = world.kept.get(name)
        if (kept !== undefined && world.random() < 0.2) await world.ask(kept.ask)
      }
    }
    const work = Promise.all(Array.from({ length: workers }, (_, number) => worker(number)))
    work.catch(() => {
      isLast = true
    })
    for (let kill = 0; kill < kills && !isLast; kill++) {
      const before = world.counts.acknowledged
      await pause(lifeMs[0] + world.random() * (lifeMs[1] - lifeMs[0]))
      // However slow the machine, every other life gets something done.
      while (kill % 2 === 1 && world.counts.acknowledged === before && !isLast) await pause(5)
      await onKill?.(world, kill)
      await world.kill()
      await world.start()
    }
    isLast = true
    if (!(await endsWithin(STALLED_MS, work))) world.violate('I5', 'a client waits for what does not come')
    await world.kill()
    await world.start()
    await checkInvariants(world, verifies)
    await checkFollowers(world, followers)
    for (const follower of followers) await follower.stop()
    expectSame(world, 'I5', 'the end of SIGTERM', [{ code: 0, signal: null }, await world.server().kill('SIGTERM')])
    return reportOf(world, verifies.length)
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

export const reportOf = ({ violations, counts, outages }: World, deeds: number): Report => ({
  ...{ violations, deeds, requests: counts.requests, kills: counts.kills },
  outages: outages.toSorted((one, other) => one - other),
})

/** What the deeds share: a session that many runs speak in, and a trigger. */
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

/** I8 for those who follow over the kills: every event once, in order, without a gap. */
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
