import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInMemoryStorage } from '@berth/in-memory'
import type { Logger, Storage, Write } from '@berth/ports'
import { AppError } from '@berth/ports'
import type { ServerConfigInput } from '@berth/protocol'
import { openSqliteStorage } from '@berth/sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BerthServer } from './berth-server.ts'
import { parseConfig } from './config.ts'
import { createServer } from './create-server.ts'
import { openTokenAdmin } from './token-admin.ts'
import { connect } from './web-socket-client.fixture.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const MARKER = 'marker-that-stands-nowhere-else'
process.env.TEST_AUDIT_PEPPER = 'p'.repeat(32)
process.env.TEST_AUDIT_PASSPHRASE = MARKER

// Each case starts servers with storage threads of their own.
vi.setConfig({ testTimeout: 60_000 })

let directory: string
let servers: BerthServer[] = []
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'berth-audit-'))
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop({ force: true })
  servers = []
  rmSync(directory, { recursive: true })
})

const CONFIG = {
  server: { port: 0, rateLimit: { perIpRequests: 10_000 } },
  auth: { pepperRef: 'env:TEST_AUDIT_PEPPER' },
  storage: { path: 'data.db' },
} satisfies ServerConfigInput
const FILE = {
  ...CONFIG,
  audit: { enabled: true, path: 'audit.db', passphraseRef: 'env:TEST_AUDIT_PASSPHRASE' },
} satisfies ServerConfigInput

interface Entry {
  readonly seq: number
  readonly action: string
  readonly detail?: Readonly<Record<string, unknown>>
}

async function start(config: ServerConfigInput, storage?: Storage) {
  const server = await createServer({
    config,
    configDir: directory,
    adapters: { logger, ...(storage && { storage }) },
    agents: [{ id: 'echo', description: 'Echo.', agent: { id: 'echo', run: async (input) => input } }],
  })
  servers.push(server)
  const { host, port, basePath } = await server.start()
  const url = `http://${host}:${port}${basePath}`
  const call = (path: string, token: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  const entries = async (query = '') => {
    const response = await call(`/audit?order=asc&limit=200${query}`, await adminToken)
    return ((await response.json()) as { readonly items: readonly Entry[] }).items
  }
  const verify = async () => (await call('/audit/verify', await adminToken, {})).json()
  const adminToken = mint('admin:*', config, storage)
  await adminToken
  return { server, url, call, entries, verify, admin: await adminToken }
}

async function mint(scope: string, config: ServerConfigInput, storage?: Storage): Promise<string> {
  const admin = await openTokenAdmin(parseConfig(config), {
    configDir: directory,
    adapters: { logger, ...(storage && { storage }) },
  })
  const { token } = await admin.mint({ name: 'test', subject: scope, scopes: [scope] })
  await admin.close()
  return token
}

const actions = (entries: readonly Entry[]) => entries.map(({ action }) => action)

/** Commits of the storage fail when they would append to, or stage for, the chain. */
function failing(storage: Storage): { readonly storage: Storage; readonly fail: (isOn: boolean) => void } {
  let isOn = false
  const commit = async (writes: readonly Write[]) => {
    if (isOn && writes.some(({ type }) => type.startsWith('audit.'))) throw new AppError('storage-full')
    return storage.unitOfWork.commit(writes)
  }
  const fail = (on: boolean) => {
    isOn = on
  }
  return { storage: { ...storage, unitOfWork: { commit } }, fail }
}

describe('the audit chain in the main database', () => {
  it('holds privileged actions with their requests, and nothing else', async () => {
    const { call, entries, admin, verify } = await start(CONFIG)
    const run = (await (await call('/agents/echo/run', admin, { input: 1 })).json()) as { readonly runId: string }
    await call(`/runs/${run.runId}/replay`, admin, {}, { 'x-request-id': 'r1' })
    await call('/agents', admin)

    expect(await entries('&action=runs.replay')).toEqual([
      expect.objectContaining({
        ...{ action: 'runs.replay', method: 'POST', route: '/v1/runs/:runId/replay', target: run.runId },
        ...{ decision: 'allowed', requestId: 'r1', ip: '127.0.0.1', detail: { raw: false } },
        actor: expect.objectContaining({ kind: 'token', subject: 'admin:*' }),
      }),
    ])
    expect(actions(await entries())).not.toContain('agents.list')
    expect(await verify()).toMatchObject({ ok: true })
  })

  it('records a privileged request that was denied, and an answer given again under its key', async () => {
    const { call, entries, admin } = await start(CONFIG)
    const reader = await mint('agents:read', CONFIG)
    const run = (await (await call('/agents/echo/run', admin, { input: 1 })).json()) as { readonly runId: string }
    const before = (await entries()).length
    const again = () => call(`/runs/${run.runId}/replay`, admin, {}, { 'idempotency-key': 'k' })
    await call(`/runs/${run.runId}/replay`, reader, {})
    await again()
    expect((await again()).headers.get('idempotency-replayed')).toBe('true')

    expect((await entries()).slice(before)).toMatchObject([
      { action: 'runs.replay', decision: 'denied', status: 403, detail: { error: 'scope-denied' } },
      { action: 'runs.replay', decision: 'allowed', detail: { raw: false } },
      { action: 'runs.replay', decision: 'allowed', status: 200, detail: { replayed: true } },
    ])
  })

  it('shows and does nothing when the entry cannot be written', async () => {
    const { storage, fail } = failing(createInMemoryStorage())
    const { call, admin, entries } = await start(CONFIG, storage)
    const run = (await (await call('/agents/echo/run', admin, { input: MARKER })).json()) as { readonly runId: string }
    const repeat = { 'idempotency-key': 'k' }
    await call(`/runs/${run.runId}/replay`, admin, {}, repeat)
    const before = actions(await entries())

    fail(true)
    for (const response of [
      await call(`/runs/${run.runId}/replay`, admin, {}),
      await call(`/runs/${run.runId}/replay`, admin, {}, { accept: 'text/event-stream' }),
      await call(`/runs/${run.runId}/replay`, admin, {}, repeat),
      await call('/audit/export', admin),
    ]) {
      const text = await response.text()
      expect([response.status, JSON.parse(text).error]).toEqual([503, 'audit-unavailable'])
      expect(response.headers.get('retry-after')).toBe('5')
      expect(text).not.toContain(MARKER)
    }
    expect((await call('/agents', admin)).status).toBe(200)
    fail(false)
    expect(actions(await entries())).toEqual(before)
  })

  it('tells the event log of every entry', async () => {
    const storage = createInMemoryStorage()
    const { call, admin, entries } = await start(CONFIG, storage)
    await (await call('/audit/export', admin)).text()

    const events = await storage.events.read({ topic: 'audit/events' }, { after: 0, limit: 99 })
    expect(events.map(({ payload }) => JSON.parse(payload))).toEqual(await entries())
  })

  it('writes a signed checkpoint when it stops, and finds out what was cut off afterwards', async () => {
    const first = await start(CONFIG)
    await (await first.call('/audit/export', first.admin)).text()
    await first.server.stop()
    expect(readdirSync(directory)).toContain('data.db.audit-checkpoints')

    const storage = await openSqliteStorage({ path: join(directory, 'data.db') })
    await storage.unitOfWork.commit([{ type: 'audit.prune', throughSeq: 1 }])
    await storage.close()
    const second = await start(CONFIG)

    expect(await second.verify()).toMatchObject({ ok: false, reason: 'base-forged', firstBadSeq: 2 })
  })

  it('is read, exported and verified by those who hold the scopes', async () => {
    const { call } = await start(CONFIG)
    const reader = await mint('audit:read', CONFIG)

    expect((await call('/audit', reader)).status).toBe(200)
    expect((await call('/audit/export', reader)).status).toBe(403)
    expect((await call('/audit/verify', reader, {})).status).toBe(403)
    expect((await call('/audit?since=yesterday', reader)).status).toBe(400)
    expect((await call('/audit?cursor=x', reader)).status).toBe(400)
  })
})

describe('the audit chain in a file of its own', () => {
  it('holds who has opened a WebSocket or may not, and counts those that nobody stands behind', async () => {
    const first = await start(FILE)
    const lacking = await mint('tokens:read', FILE)
    const ticketOf = async (token: string) => {
      const response = await first.call('/session/ws-ticket', token, {})
      return ((await response.json()) as { readonly ticket: string }).ticket
    }
    const opened = await connect(first.url, { ticket: await ticketOf(first.admin) })
    for (const ticket of [await ticketOf(lacking), 'unknown', 'unknown']) {
      await (await connect(first.url, { ticket })).closed
    }
    await opened.initialize()
    await opened.call('run.cancel', { runId: 'run_none' })
    opened.socket.close()
    await opened.closed
    await first.server.stop()
    const entries = await (await start(FILE)).entries()

    expect(entries.filter(({ action }) => action === 'runs.abort')).toMatchObject([
      { method: 'run.cancel', route: '/v1/ws', target: 'run_none', status: 404, actor: { subject: 'admin:*' } },
    ])
    const upgrade = { action: 'realtime.open-ws', method: 'GET', route: '/v1/ws', durationMs: expect.any(Number) }
    expect(entries.filter(({ action }) => action === 'realtime.open-ws')).toMatchObject([
      { ...upgrade, decision: 'allowed', status: 101, actor: { kind: 'token', subject: 'admin:*' } },
      {
        ...upgrade,
        decision: 'denied',
        status: 403,
        actor: { subject: 'tokens:read' },
        detail: { error: 'scope-denied' },
      },
    ])
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'auth.failed', detail: { count: 2, 'auth-invalid': 2 } }),
    )
  })

  it('holds every request once, with what its deed has said', async () => {
    const { call, entries, admin, verify } = await start(FILE)
    const reader = await mint('agents:read', FILE)
    const run = (await (await call('/agents/echo/run', admin, { input: 1 })).json()) as { readonly runId: string }
    await call('/agents', reader)
    await call('/agents/nobody', reader)
    await call('/audit', reader)
    await call(`/runs/${run.runId}/replay`, admin, {})

    const mine = (await entries()).filter(({ action }) => !action.startsWith('tokens.'))
    expect(mine).toMatchObject([
      { action: 'agents.run', method: 'POST', route: '/v1/agents/:agentId/run', target: 'echo', status: 200 },
      { action: 'agents.list', decision: 'allowed', status: 200, durationMs: expect.any(Number) },
      { action: 'agents.get', decision: 'allowed', status: 404, detail: { error: 'agent-not-found' } },
      { action: 'audit.list', decision: 'denied', status: 403 },
      { action: 'runs.replay', status: 200, target: run.runId, detail: { raw: false } },
    ])
    expect(await verify()).toMatchObject({ ok: true })
  })

  it('counts failed authentication in one entry per address and minute', async () => {
    const { call, server } = await start(FILE)
    for (let n = 0; n < 5; n++) await call('/agents', 'junk')
    await server.stop()

    const { entries } = await start(FILE)
    expect(await entries('&action=auth.failed')).toEqual([
      expect.objectContaining({ decision: 'denied', ip: '127.0.0.1', detail: { count: 5, 'auth-invalid': 5 } }),
    ])
  })

  it('leaves no plain text in its file', async () => {
    const { call, admin, entries } = await start(FILE)
    await call(`/agents/${MARKER}`, admin)
    await entries()
    const bytesOf = (name: string) =>
      Buffer.concat(
        readdirSync(directory)
          .filter((file) => file.startsWith(name))
          .map((file) => readFileSync(join(directory, file))),
      )

    expect(bytesOf('audit.db').includes(MARKER)).toBe(false)
    expect(bytesOf('audit.db').includes('agents.get')).toBe(false)
    expect(bytesOf('audit.db').length).toBeGreaterThan(10_000)
  })

  it('is refused with another passphrase', async () => {
    const { server } = await start(FILE)
    await server.stop()
    process.env.TEST_OTHER_PASSPHRASE = 'other'
    const audit = { ...FILE.audit, passphraseRef: 'env:TEST_OTHER_PASSPHRASE' }

    await expect(start({ ...FILE, audit })).rejects.toMatchObject({ kind: 'encryption-passphrase-wrong' })
  })

  it('shows that both files are encrypted in health', async () => {
    const storage = { ...CONFIG.storage, encryption: { enabled: true, passphraseRef: 'env:TEST_AUDIT_PASSPHRASE' } }
    const { url } = await start({ ...FILE, storage })

    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      status: 'ok',
      checks: { encryption: { status: 'ok', enabled: true, cipher: 'chacha20' } },
    })
  })

  it('resolves every secret reference, and says which', async () => {
    const { call, admin } = await start(FILE)

    expect(await (await call('/health/secrets', admin)).json()).toEqual({
      active: 'env',
      fallbackChain: ['env', 'file', 'keyring'],
      references: [
        { field: 'auth.pepperRef', scheme: 'env', resolved: true },
        { field: 'audit.passphraseRef', scheme: 'env', resolved: true },
      ],
    })
  })
})
