import { afterEach, describe, expect, it } from 'vitest'
import { createClient, type Event, type PerdureClient, type SubscriptionItem } from '../packages/client/src/index.ts'
import { createRandom } from '../packages/testkit/src/random.ts'
import { createLossyNetwork, type LossyNetwork } from './lossy-network.ts'
import {
  CLIENT_CONFIG,
  createSandbox,
  createToken,
  type RunningServer,
  type Sandbox,
  startServer,
} from './perdure-process.ts'

const SEED = Number(process.env.E2E_SEED ?? Date.now() % 1_000_000)
const KILLS = Number(process.env.E2E_KILLS ?? 6)
const SOAK = Number(process.env.E2E_SOAK ?? 1)

interface World {
  readonly sandbox: Sandbox
  readonly token: string
  readonly proxy: LossyNetwork
  readonly random: () => number
  server: RunningServer
}

const open: { client: PerdureClient[]; worlds: World[] } = { client: [], worlds: [] }

afterEach(async () => {
  for (const client of open.client.splice(0)) client.close()
  for (const { server, proxy } of open.worlds.splice(0)) {
    await proxy.close()
    await server.kill('SIGKILL')
  }
})

const start = (sandbox: Sandbox) => startServer(sandbox, ['server', '--config', CLIENT_CONFIG])
const portOf = (server: RunningServer) => Number(new URL(server.url).port)

async function createWorld(): Promise<World> {
  console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
  const sandbox = createSandbox({ PERDURE_REALTIME_WEB_SOCKET_MAX_CONNECTIONS_PER_TOKEN: '1000' })
  const token = await createToken(sandbox)
  const [server, proxy] = [await start(sandbox), await createLossyNetwork()]
  proxy.target(portOf(server))
  const world = { sandbox, token, proxy, server, random: createRandom(SEED) }
  open.worlds.push(world)
  return world
}

async function restart(world: World, signal: NodeJS.Signals): Promise<void> {
  await world.server.kill(signal)
  world.server = await start(world.sandbox)
  world.proxy.target(portOf(world.server))
}

function clientOf({ proxy, token }: World): PerdureClient {
  const client = createClient({ baseUrl: `${proxy.origin}/v1`, token, maxRetries: 1_000, timeoutMs: 240_000 })
  open.client.push(client)
  return client
}

/** A client that connects to the current server directly, without the proxy. */
function directClientOf({ server, token }: World): PerdureClient {
  const client = createClient({ baseUrl: server.url, token })
  open.client.push(client)
  return client
}

async function readAll(items: AsyncIterable<SubscriptionItem>): Promise<SubscriptionItem[]> {
  const seen: SubscriptionItem[] = []
  for await (const item of items) seen.push(item)
  return seen
}

const idsOf = (items: readonly SubscriptionItem[]) =>
  items.map((item) => (item.type === 'event' ? item.event.eventId : 'gap'))

const positionOf = (eventId: string) => Number(eventId.split('.')[1])

/**
 * Joins the received sentences, each once: after a crash, the agent may repeat its last sentence under the same number.
 */
function textOf(items: readonly SubscriptionItem[]): string {
  const sentences = new Map<string, string>()
  for (const item of items) {
    if (item.type !== 'event' || item.event.type !== 'text.delta') continue
    const { messageId, delta } = item.event.payload as { messageId: string; delta: string }
    sentences.set(messageId, delta)
  }
  return [...sentences.values()].join('')
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a client', () => {
  it('calls operations of every shape', async () => {
    const client = clientOf(await createWorld())
    const locations: (string | null)[] = []

    expect(await client.health.live()).toEqual({ status: 'ok' })
    expect((await client.agents.list({ order: 'asc', limit: 1 }).all()).map(({ id }) => id)).toEqual([
      'echo',
      'flood',
      'teller',
    ])
    const accepted = await client.agents.run('echo', undefined, {
      prefer: 'respond-async',
      onAnswer: ({ status, headers }) => locations.push(`${status} ${headers.get('location')}`),
    })
    expect(locations).toEqual([`202 /v1/runs/${accepted.runId}`])
    await expect.poll(async () => (await client.runs.state(accepted.runId)).status).toBe('completed')
    for (let n = 0; n < 3; n += 1) await client.agents.run('echo', { input: n, metadata: { n: `${n}` } })
    const inputs: unknown[] = []
    for await (const { input } of client.runs.list({ agentId: 'echo', limit: 2, order: 'asc', include: 'input' }))
      inputs.push(input)
    expect(inputs.slice(1)).toEqual([0, 1, 2])
    expect(await client.agents.abort('teller')).toEqual({ aborted: [] })
    expect(await (await client.metrics.get()).text()).toContain('svc_build_info')
    await expect(client.approvals.resolve('apr_none', { approved: true })).rejects.toMatchObject({
      name: 'PerdureError',
      code: 'approval-not-found',
      status: 404,
      requestId: expect.stringMatching(/^req_/),
    })
  })
})

describe('a client whose server is killed in the middle of a run', () => {
  it('receives every logged event once and the same text as from an uninterrupted run', async () => {
    const world = await createWorld()
    const client = clientOf(world)
    const input = { sentences: 25, everyMs: 15 }
    const whole = await readAll(client.subscribe((await client.agents.start('teller', { input })).subject))

    for (let kill = 0; kill < KILLS; kill += 1) {
      const { runId, subject } = await client.agents.start('teller', { input })
      const readers = [
        readAll(client.subscribe(subject, { transport: 'websocket' })),
        readAll(client.subscribe(subject, { transport: 'sse' })),
      ]
      await pause(world.random() * 600)
      await restart(world, 'SIGKILL')
      const [overSocket = [], overSse = []] = await Promise.all(readers)
      const log = await client.runs.events(runId, { order: 'asc', limit: 200 }).all()

      const expected = log.map(({ eventId }) => eventId)
      expect(idsOf(overSocket)).toEqual(expected)
      expect(overSse).toEqual(overSocket)
      expect(overSocket.map((item) => item.type === 'event' && item.event)).toEqual(log)
      expect(textOf(overSocket)).toBe(textOf(whole))
    }
    expect(textOf(whole)).toMatch(/^Sentence 0\. .*Sentence 24\. $/)
  })
})

describe('a run that is streamed over connections that are cut', () => {
  it.each(['websocket', 'sse'] as const)(
    'is started once, and yields each of its events once over %s',
    async (transport) => {
      const world = await createWorld()
      const client = clientOf(world)
      world.proxy.limitLifetimes(() => 20 + world.random() * 400)
      const streams = Array.from({ length: 4 }, () =>
        client.agents.stream('teller', { input: { sentences: 20, everyMs: 30 }, sessionId: 'streamed' }, { transport }),
      )
      await pause(300)
      await restart(world, 'SIGKILL')
      const seen = await Promise.all(
        streams.map(async (stream) => {
          const events: Event[] = []
          for await (const event of stream) events.push(event)
          return { runId: (await stream.started).runId, events }
        }),
      )
      world.proxy.limitLifetimes(undefined)

      for (const { runId, events } of seen) {
        expect(events).toEqual(await client.runs.events(runId, { order: 'asc', limit: 200 }).all())
        expect(events.at(-1)?.type).toBe('run.completed')
      }
      const runs = await client.runs.list({ sessionId: 'streamed' }).all()
      expect(runs.map(({ id }) => id).toSorted()).toEqual(seen.map(({ runId }) => runId).toSorted())
    },
  )
})

/** One of many readers and its progress. */
interface Reader {
  readonly name: string
  readonly sessionId: string
  readonly items: SubscriptionItem[]
  readonly ended: Promise<void>
}

function follow(client: PerdureClient, { sessionId, lastEventId }: Followed, transport: 'websocket' | 'sse'): Reader {
  const items: SubscriptionItem[] = []
  const read = async () => {
    const subscription = client.subscribe(`session:${sessionId}/events`, { transport, lastEventId })
    for await (const item of subscription) items.push(item)
  }
  return { name: `${transport} ${sessionId}`, sessionId, items, ended: read() }
}

/** A session, and the last event that its readers must receive. */
interface Followed {
  readonly sessionId: string
  readonly lastEventId: string
}

describe('a client on connections that are cut, with a restarting server', () => {
  it('receives every event of its session once and in order', async () => {
    const world = await createWorld()
    const { random, proxy } = world
    const sessions = Array.from({ length: 6 * SOAK }, (_, n) => `ses-${n}`)
    const clients = Array.from({ length: 6 * SOAK }, () => clientOf(world))
    const publisher = clientOf(world)
    // A session must exist before its stream can be followed.
    const followed = await Promise.all(
      sessions.map(async (sessionId): Promise<Followed> => {
        const { runId } = await publisher.agents.run('echo', { input: 0, sessionId })
        const [first] = (await publisher.runs.events(runId, { limit: 1 })).items
        return { sessionId, lastEventId: first?.eventId ?? '' }
      }),
    )
    const readers: Reader[] = []
    for (const [n, client] of clients.entries()) {
      for (const transport of ['websocket', 'sse'] as const) {
        for (const shift of [0, 1]) {
          readers.push(follow(client, followed[(n + shift) % followed.length] ?? unknown, transport))
        }
      }
    }

    const runsOf = new Map(sessions.map((sessionId) => [sessionId, [] as string[]]))
    const teller = async (sessionId: string) => {
      for (let n = 0; n < 12; n += 1) {
        // A server that shuts down answers before the run has completed; the next server continues the run.
        const { runId } = await publisher.agents.run('teller', { input: { sentences: 8, everyMs: 20 }, sessionId })
        runsOf.get(sessionId)?.push(runId)
      }
    }
    proxy.limitLifetimes(() => 100 + random() * 4_900)
    proxy.cut()
    const telling = Promise.all(sessions.map(teller))
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      await pause(600 + random() * 600)
      await restart(world, signal)
    }
    await telling
    await expect.poll(proxy.cutCount).toBeGreaterThan(20)
    proxy.limitLifetimes(undefined)

    const direct = directClientOf(world)
    const unfinished = async () => {
      const runs = await direct.runs.list({ limit: 200 }).all()
      return runs.filter(({ status }) => status !== 'completed').map(({ id, status }) => `${id} ${status}`)
    }
    await expect.poll(unfinished).toEqual([])
    for (const one of followed) {
      const recorded = await recordedOf(direct, one)
      const ended = recorded.filter(({ type }) => type === 'run.completed')
      expect(ended.length).toBe(1 + (runsOf.get(one.sessionId)?.length ?? 0))
      for (const { name, items } of readers.filter(({ sessionId }) => sessionId === one.sessionId)) {
        const newest = recorded.at(-1)?.eventId
        await expect.poll(() => idsOf(items).at(-1), { message: name }).toBe(newest)
        expect(idsOf(items), name).toEqual(recorded.map(({ eventId }) => eventId))
        expect(items.map((item) => item.type === 'event' && item.event.payload)).toEqual(
          recorded.map(({ payload }) => payload),
        )
      }
    }
    const count = readers.reduce((sum, { items }) => sum + items.length, 0)
    console.log(
      `${readers.length} subscriptions, ${proxy.cutCount()} connections cut, 3 restarts, ${count} events, each received once`,
    )
  })
})

const unknown: Followed = { sessionId: '', lastEventId: '' }

/** Reads the recorded events of a session after a cursor page by page, without following. */
async function recordedOf(client: PerdureClient, { sessionId, lastEventId }: Followed) {
  const recorded: Event[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = { limit: 200, order: 'asc', ...(cursor === undefined ? {} : { cursor }) } as const
    const { items, nextCursor } = await client.sessions.replay(sessionId, page)
    recorded.push(...items)
    cursor = nextCursor
  }
  return recorded.filter(({ eventId }) => positionOf(eventId) > positionOf(lastEventId))
}
