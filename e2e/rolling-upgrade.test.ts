import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../tooling/needed-tool.ts'
import { openFrontProxy } from './cluster/front-proxy.ts'
import { LEASE_MS } from './cluster-servers.ts'
import { createCall, eventually } from './durable-server.ts'
import { bearer, createSandbox, createToken, type RunningServer, type Sandbox, startServer } from './perdure-process.ts'
import { followBySse } from './realtime-client.ts'

const ROOT = resolve(import.meta.dirname, '..')
/**
 * The folder of a built clone of an earlier release or commit: the long form. By default, both releases are this code with
 * another configuration, so the schema and the wire of both are the same.
 */
const OLD_ROOT = process.env.E2E_OLD_RELEASE ?? ROOT
const CONFIG = join(import.meta.dirname, 'fixtures/rolling.config.mjs')
const SERVERS = 3
const CHATS = 4
/** Orders before, between and after the replacements. */
const ORDERS = 3
/** Turns of each chat before, between and after the replacements. */
const TURNS = Number(process.env.E2E_ROLLING_TURNS ?? 1)

interface Shown {
  readonly runId: string
  readonly status: string
  readonly result?: { readonly version?: string }
  readonly items: readonly { readonly eventId: string; readonly type: string }[]
  readonly nextCursor: string | null
}

interface Message {
  readonly role: string
  readonly parts: readonly { readonly text?: string }[]
}

/** A release with its configuration, in a folder from which the server loads the packages of the release. */
function installed(sandbox: Sandbox, release: 'old' | 'new', root: string) {
  const folder = join(sandbox.dir, release)
  mkdirSync(folder)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const config = join(folder, 'perdure.config.mjs')
  writeFileSync(config, `export { default } from ${JSON.stringify(CONFIG)}\n`)
  // Otherwise a server would also find the packages of the release that runs the tests.
  const { NODE_PATH: _, ...inherited } = sandbox.env
  const env = { ...inherited, ROLLING_RELEASE: release, ROLLING_ROOT: root }
  return { ...sandbox, env, config, binary: join(root, 'apps/cli/bin/perdure.js') }
}

/** Servers on one schema behind one address; a request to a server that stops is lost. */
async function startServers() {
  const sandbox = createSandbox({ PERDURE_STORAGE_CLUSTER: 'true', PERDURE_STORAGE_LEASE_MS: `${LEASE_MS}` })
  const [old, next] = [installed(sandbox, 'old', OLD_ROOT), installed(sandbox, 'new', ROOT)]
  const token = await createToken(old, 'admin:*', 'e2e', old.config)
  const servers: RunningServer[] = []
  const start = async (release: typeof old) => {
    const server = await startServer(release, ['server', '--config', release.config])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    return server
  }
  for (let n = 0; n < SERVERS; n++) servers.push(await start(old))
  const proxy = await openFrontProxy(() => servers.map(({ url }) => Number(new URL(url).port)))
  onTestFinished(() => proxy.close())

  /** Stops the oldest server, and starts one of the next release in its place. */
  const replace = async () => {
    const [stopped] = servers
    const exit = await stopped?.kill('SIGTERM')
    servers.shift()
    servers.push(await start(next))
    return exit
  }
  return { url: proxy.url, token, replace }
}

/** Repeats a request whose connection was lost, or that a stopping server has refused. */
async function insist<Answer>(request: () => Promise<Answer | undefined>): Promise<Answer> {
  for (;;) {
    const answer = await request().catch(() => undefined)
    if (answer !== undefined) return answer
    await pause(50)
  }
}

needsTool('postgres').describe('a rolling upgrade of three servers', () => {
  it('loses no message, no event and no run while clients talk', async () => {
    const { url, token, replace } = await startServers()
    const call = createCall(() => url, token)
    const get = <T>(path: string) =>
      insist(async () => {
        const { status, body } = await call<T>('GET', path)
        return status === 200 ? body : undefined
      })
    const post = (path: string, body: object, key: string) =>
      insist(async () => {
        const headers = { 'idempotency-key': key, prefer: 'respond-async' }
        const answer = await call<Shown>('POST', path, { body, headers })
        return answer.status < 300 ? answer.body : undefined
      })
    const messagesOf = async (chat: string) =>
      (await get<readonly Message[]>(`/agents/support/chat/${chat}/messages`)).map(({ role, parts }) =>
        [role, ...parts.flatMap(({ text = [] }) => text)].join(' '),
      )

    const turns = Array.from({ length: CHATS }, () => 0)
    let isOver = false
    /** Sends the same message until it is answered. */
    const say = async (chat: string, n: number) => {
      const messages = [{ id: `${chat}-${n}`, role: 'user', parts: [{ type: 'text', text: `turn ${n}` }] }]
      await insist(async () => {
        const body = JSON.stringify({ id: chat, messages })
        await fetch(`${url}/agents/support/chat`, { method: 'POST', headers: bearer(token), body }).then(
          (response) => response.text(),
          () => undefined,
        )
        return (await messagesOf(chat)).at(-1) === `assistant You said turn ${n}.` || undefined
      })
    }
    const chats = turns.map(async (_, at) => {
      for (let n = 0; !isOver; n++) {
        await say(`chat-${at}`, n)
        turns[at] = n + 1
      }
    })
    const { runId } = await post('/agents/ticker/run', { input: { ticks: 100 } }, 'ticker')
    const follower = followBySse({ url: () => url, token, subject: '', path: `/runs/${runId}/events` })
    await follower.following

    const orders: string[] = []
    const orderMore = async () => {
      const n = orders.length
      orders.push((await post('/workflows/order/execute', { input: { n } }, `order-${n}`)).runId)
    }
    /** Lets every client do something with the servers that now run. */
    const talk = async () => {
      const wanted = turns.map((made) => made + TURNS)
      for (let n = 0; n < ORDERS; n++) await orderMore()
      await eventually(() => turns.every((made, at) => made >= (wanted[at] ?? 0))).toBe(true)
    }
    await talk()
    for (let n = 0; n < SERVERS; n++) {
      expect(await replace()).toEqual({ code: 0, signal: null })
      await talk()
    }
    isOver = true
    await Promise.all(chats)

    for (const n of orders.keys()) await post(`/events/paid.${n}`, { payload: { euro: n } }, `paid-${n}`)
    const versions: (string | undefined)[] = []
    for (const [n, id] of orders.entries()) {
      await eventually(async () => (await get<Shown>(`/runs/${id}`)).status).toBe('completed')
      const { result } = await get<Shown>(`/runs/${id}`)
      versions.push(result?.version)
      expect(result).toEqual({ version: n < ORDERS ? '1' : result?.version, n, paid: { euro: n } })
    }
    expect(versions.slice(-ORDERS)).toEqual(Array(ORDERS).fill('2'))
    for (const [at, made] of turns.entries()) {
      const said = Array.from({ length: made }, (_, n) => [`user turn ${n}`, `assistant You said turn ${n}.`])
      expect(await messagesOf(`chat-${at}`)).toEqual(said.flat())
    }

    await eventually(async () => (await get<Shown>(`/runs/${runId}`)).status).toBe('completed')
    const log: string[] = []
    for (let cursor = ''; ; ) {
      const page = await get<Shown>(`/runs/${runId}/events?order=asc&limit=200${cursor}`)
      log.push(...page.items.map(({ eventId }) => eventId))
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    const received = () => follower.received.map((one) => (one.kind === 'event' ? one.eventId : one.kind))
    await expect.poll(() => received().at(-1)).toBe(log.at(-1))
    expect(received()).toEqual(log.slice(log.indexOf(received()[0] ?? '')))
    await follower.stop()
  })
})
