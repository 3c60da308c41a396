import { describe, expect, it, onTestFinished } from 'vitest'
import { createRandom } from '../packages/testkit/src/random.ts'
import { openCuttingProxy } from './cutting-proxy.ts'
import {
  bearer,
  createSandbox,
  createToken,
  REALTIME_CONFIG,
  type RunningServer,
  startServer,
} from './perdure-process.ts'
import { followBySse, followByWebSocket, gapsOf, idsOf, type Received } from './realtime-client.ts'

const SEED = Number(process.env.E2E_SEED ?? Date.now() % 1_000_000)
/** E2E_REALTIME_SCALE=5 runs a longer test: 50 sessions with 200 clients across 15 restarts. */
const SCALE = Number(process.env.E2E_REALTIME_SCALE ?? 1)
const KILLS = 8 * SCALE
const SESSIONS = SCALE === 1 ? 20 : 10 * SCALE
const CLIENTS = 40 * SCALE
const RESTARTS = 3 * SCALE
const WORDS = 40

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const SERVE = ['server', '--config', REALTIME_CONFIG]

async function open() {
  console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
  const sandbox = createSandbox()
  const token = await createToken(sandbox)
  let server: RunningServer = await startServer(sandbox, SERVE)
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const headers = bearer(token)
  return {
    ...{ token, random: createRandom(SEED) },
    url: () => server.url,
    async post<T>(path: string, body: object): Promise<T> {
      const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await response.json()) as T
    },
    get: async <T>(path: string) => (await (await fetch(server.url + path, { headers })).json()) as T,
    async restart() {
      await server.kill('SIGKILL')
      server = await startServer(sandbox, SERVE)
    },
  }
}

interface Page {
  readonly items: readonly { readonly eventId: string }[]
  readonly nextCursor: string | null
}

async function everyId(pageAfter: (cursor: string | undefined) => Promise<Page>): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  for (;;) {
    const { items, nextCursor } = await pageAfter(cursor)
    ids.push(...items.map(({ eventId }) => eventId))
    if (nextCursor === null) return ids
    cursor = nextCursor
  }
}

/** Joins the words, each number once: after a crash, the agent repeats a word under the same number. */
function joined(received: readonly Received[]): string {
  const words = new Map<number, string>()
  for (const one of received) {
    if (one.kind === 'event' && one.type === 'text.delta') words.set(one.payload.n ?? -1, one.payload.delta ?? '')
  }
  return [...words]
    .sort(([a], [b]) => a - b)
    .map(([, word]) => word)
    .join('')
}

const isIncreasing = (ids: readonly string[]) => {
  const positions = ids.map((id) => Number(id.split('.')[1]))
  return positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0))
}

describe('a stream across kills of the server', () => {
  it('equals the stream of an uninterrupted run, over both transports', async () => {
    const { random, post, restart, url, token, get } = await open()
    const start = (pauseMs: number) =>
      post<{ readonly runId: string; readonly subject: string }>('/agents/teller/stream', {
        input: { words: WORDS, pauseMs },
      })
    const followed = async (pauseMs: number) => {
      const { runId, subject } = await start(pauseMs)
      const options = { url, token, subject, path: `/runs/${runId}/events` }
      return { runId, followers: [followBySse(options), followByWebSocket(options)] as const }
    }
    const hasEnded = (received: readonly Received[]) =>
      received.some((one) => one.kind === 'event' && one.type === 'run.completed')

    const whole = await followed(0)
    await expect.poll(() => whole.followers.every(({ received }) => hasEnded(received))).toBe(true)
    const broken = await followed(60)
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(50 + random() * 400)
      await restart()
    }
    await expect
      .poll(() => broken.followers.every(({ received }) => hasEnded(received)), { timeout: 120_000 })
      .toBe(true)
    for (const { followers } of [whole, broken]) for (const follower of followers) await follower.stop()

    const story = joined(whole.followers[0].received)
    expect(story.trim().split(' ')).toHaveLength(WORDS)
    const recorded = await everyId((cursor) =>
      get<Page>(`/runs/${broken.runId}/events?order=asc&limit=200${cursor === undefined ? '' : `&cursor=${cursor}`}`),
    )
    for (const follower of broken.followers) {
      expect(idsOf(follower)).toEqual(recorded.slice(0, idsOf(follower).length))
      expect(joined(follower.received)).toBe(story)
      expect(gapsOf(follower)).toBe(0)
    }
    const run = await get<{ readonly attempt: number }>(`/runs/${broken.runId}`)
    console.log(
      `${KILLS} kills, attempt ${run.attempt}, ${broken.followers.map((one) => one.connections()).join(' and ')} connections`,
    )
    expect(run.attempt).toBeGreaterThan(1)
  })
})

describe('a follower on a network that drops connections', () => {
  it('receives every event once and in order, across restarts of the server', async () => {
    const { random, post, restart, url, token } = await open()
    const sessions = Array.from({ length: SESSIONS }, (_, n) => `s${n}`)
    const runChatter = (sessionId: string) => post('/agents/chatter/run', { sessionId, input: { count: 5 } })
    for (const session of sessions) await runChatter(session)

    const proxy = await openCuttingProxy(() => 100 + random() * 1_900)
    onTestFinished(() => proxy.close())
    const portOf = (at: string) => Number(new URL(at).port)
    const through = () => {
      proxy.target = portOf(url())
      return url().replace(String(proxy.target), String(proxy.port))
    }
    const followers = Array.from({ length: CLIENTS }, (_, n) => {
      const session = sessions[Math.floor(n / 2) % SESSIONS] ?? ''
      const options = { url: through, token, subject: `session:${session}/events`, path: `/sessions/${session}/events` }
      return { session, follower: n % 2 === 0 ? followBySse(options) : followByWebSocket(options) }
    })
    await Promise.all(followers.map(({ follower }) => follower.following))

    let isOver = false
    let runCount = 0
    const speakers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const session = sessions[Math.floor(random() * SESSIONS)] ?? ''
        await runChatter(session).then(
          () => runCount++,
          () => pause(50),
        )
        await pause(10)
      }
    })
    for (let restarts = 0; restarts < RESTARTS; restarts++) {
      await pause(1_000 + random() * 1_500)
      await restart()
    }
    await expect.poll(() => runCount).toBeGreaterThan(CLIENTS * 4)
    await expect.poll(proxy.cuts).toBeGreaterThan(CLIENTS)
    isOver = true
    await Promise.all(speakers)

    const logOf = (session: string) =>
      everyId((cursor) => post<Page>(`/sessions/${session}/replay`, { limit: 200, cursor }))
    const logs = new Map<string, readonly string[]>()
    for (const session of sessions) logs.set(session, await logOf(session))
    const lastOf = (session: string) => logs.get(session)?.at(-1)
    await expect
      .poll(() => followers.filter(({ session, follower }) => follower.lastEventId() !== lastOf(session)).length)
      .toBe(0)
    for (const { follower } of followers) await follower.stop()

    let events = 0
    for (const { session, follower } of followers) {
      const ids = idsOf(follower)
      const log = logs.get(session) ?? []
      events += ids.length
      expect(isIncreasing(ids)).toBe(true)
      expect(ids).toEqual(log.slice(log.length - ids.length))
      expect(gapsOf(follower)).toBe(0)
      // Only the events of the first run may be missing: the follower subscribed before every later run of the session.
      expect(log.length - ids.length).toBeLessThanOrEqual(20)
    }
    const connections = followers.reduce((sum, { follower }) => sum + follower.connections(), 0)
    console.log(
      `${runCount} runs, ${events} events to ${CLIENTS} clients, ${proxy.cuts()} cuts, ${connections} connections, ${RESTARTS} restarts`,
    )
    expect(events).toBeGreaterThan(CLIENTS * 20)
  })
})
