import { randomUUID } from 'node:crypto'
import type { RunContext } from '@perdure/core'
import type { Logger } from '@perdure/ports'
import { openPostgresStorage } from '@perdure/postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import { openTokenAdmin } from '../start/token-admin.ts'
import { connect } from './web-socket-client.fixture.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const config = { auth: { pepperRef: 'env:TEST_PEPPER' }, server: { port: 0 } } as const

/** Shorter than the pause between two looks at the storage, without which nothing would be noticed. */
const AT_ONCE_MS = 1_900
const DELTAS = Number(process.env.TWO_SERVERS_DELTAS ?? 20)

const signals: AbortSignal[] = []
const agents = [
  {
    id: 'stuck',
    description: 'Never returns.',
    agent: {
      id: 'stuck',
      run: (_: unknown, { signal }: RunContext) => {
        signals.push(signal)
        return new Promise(() => undefined)
      },
    },
  },
  {
    id: 'clock',
    description: 'Emits the time.',
    agent: {
      id: 'clock',
      async run(_: unknown, { emit }: RunContext) {
        for (let n = 0; n < DELTAS; n++) {
          await new Promise((resolve) => setTimeout(resolve, 20))
          await emit('text.delta', { delta: String(Date.now()) })
        }
      },
    },
  },
]

async function startServer() {
  const url = await sharedPostgres()
  const storage = await openPostgresStorage({ url, schema, cluster: true })
  const server = await createServer({ config, agents, adapters: { storage, logger } })
  const { host, port, basePath } = await server.start()
  const base = `http://${host}:${port}${basePath}`
  const call = (method: string, path: string, { body, headers }: { body?: object; headers?: object } = {}) =>
    fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const stop = async () => {
    await server.stop({ force: true })
    await storage.close()
  }
  return { base, call, stop, storage }
}

const schema = `two_${randomUUID().replaceAll('-', '').slice(0, 16)}`
let token: string
let tokenId: string
let one: Awaited<ReturnType<typeof startServer>>
let other: typeof one

const json = async (answer: Promise<Response>): Promise<Record<string, never>> =>
  JSON.parse(await (await answer).text())

needsTool('PostgreSQL').describe('two servers on one PostgreSQL schema', () => {
  beforeAll(async () => {
    process.env.TEST_PEPPER = 'x'.repeat(32)
    one = await startServer()
    const admin = await openTokenAdmin(parseConfig(config), { adapters: { logger, storage: one.storage } })
    const minted = await admin.mint({ name: 'test', scopes: ['admin:*'] })
    token = minted.token
    tokenId = minted.record.id
    other = await startServer()
  })
  afterAll(async () => {
    await other.stop()
    await one.stop()
  })

  it('follow each other', async () => {
    for (const { call } of [one, other]) {
      await expect
        .poll(async () => (await json(call('GET', '/health'))).tail)
        .toMatchObject({ current: true, listening: true })
    }
  })

  it('stream the events of a run that the other executes', async () => {
    const { runId } = await json(one.call('POST', '/agents/clock/stream', { body: { input: null } }))
    const stream = await other.call('GET', `/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } })
    const delays: number[] = []
    let text = ''
    for await (const chunk of stream.body ?? []) {
      const now = Date.now()
      const part = new TextDecoder().decode(chunk)
      text += part
      for (const [, at] of part.matchAll(/"delta":"(\d+)"/g)) delays.push(now - Number(at))
    }

    const sorted = delays.toSorted((first, second) => first - second)
    const share = (part: number) => sorted[Math.floor(sorted.length * part)]
    if (process.env.TWO_SERVERS_DELTAS !== undefined) {
      process.stderr.write(`emit to frame on the other server: p50 ${share(0.5)} ms, p95 ${share(0.95)} ms\n`)
    }
    expect(delays).toHaveLength(DELTAS)
    expect(text).toContain('run.completed')
    expect(share(0.5)).toBeLessThan(AT_ONCE_MS)
  })

  it('end a run that the other executes, and its caller and its code notice at once', async () => {
    const waiting = json(one.call('POST', '/agents/stuck/run', { body: { input: null } }))
    await expect.poll(() => signals.length).toBe(1)
    const { items } = await json(other.call('GET', '/runs?status=running'))
    const [run] = items as unknown as readonly { readonly id: string }[]
    const startedAt = performance.now()

    expect((await other.call('POST', `/runs/${run?.id}/abort`, { body: {} })).status).toBe(200)

    expect(await waiting).toMatchObject({ status: 'aborted' })
    expect(performance.now() - startedAt).toBeLessThan(AT_ONCE_MS)
    await expect.poll(() => signals[0]?.aborted).toBe(true)
  })

  it('accept a ticket of the other once', async () => {
    const { ticket = '' } = await json(one.call('POST', '/session/ws-ticket'))
    const client = await connect(other.base, { ticket })
    expect(await client.initialize()).toMatchObject({ result: expect.anything() })

    const second = await connect(one.base, { ticket })
    expect((await second.closed).code).toBeGreaterThanOrEqual(4_000)
    client.socket.close()
  })

  it('close the sockets of a token that the other has revoked', async () => {
    const { ticket = '' } = await json(one.call('POST', '/session/ws-ticket'))
    const client = await connect(other.base, { ticket })
    await client.initialize()
    const startedAt = performance.now()

    expect((await one.call('DELETE', `/tokens/${tokenId}`)).status).toBeLessThan(300)

    expect((await client.closed).code).toBeGreaterThanOrEqual(4_000)
    if (process.env.TWO_SERVERS_DELTAS !== undefined) {
      process.stderr.write(`revocation to closed socket: ${Math.round(performance.now() - startedAt)} ms\n`)
    }
  })
})
