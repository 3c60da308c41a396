import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '@perdure/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import { openTokenAdmin } from '../start/token-admin.ts'

const random = () => randomBytes(32).toString('base64url')
const PEPPERS = { TOKEN_SECRETS_OLD: random(), TOKEN_SECRETS_NEW: random() }
const PASSPHRASES = { TOKEN_SECRETS_STORAGE: random(), TOKEN_SECRETS_AUDIT: random() }
Object.assign(process.env, PEPPERS, PASSPHRASES)

const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** Starts a server on a database in `dir` and collects its log. */
async function start(dir: string, auth: { pepperRef: string; previousPepperRefs?: string[] }, isEncrypted = false) {
  const lines: unknown[] = []
  const keep = (...line: unknown[]) => void lines.push(line)
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep }
  const config = {
    server: { port: 0, rateLimit: { perIpRequests: 1_000_000 } },
    auth,
    storage: {
      ...{ path: join(dir, 'data.db'), synchronous: 'normal' as const },
      encryption: isEncrypted ? { enabled: true, passphraseRef: 'env:TOKEN_SECRETS_STORAGE' } : {},
    },
    audit: isEncrypted ? { enabled: true, path: 'audit.db', passphraseRef: 'env:TOKEN_SECRETS_AUDIT' } : {},
  }
  const server = await createServer({ config, adapters: { logger }, configDir: dir })
  const { host, port, basePath } = await server.start()
  undo.push(() => server.stop({ force: true }))
  const url = `http://${host}:${port}${basePath}`
  const send = (
    path: string,
    token: string,
    { method = 'GET', body, key }: { method?: string; body?: unknown; key?: string } = {},
  ) =>
    fetch(url + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const admin = async () => {
    const tokens = await openTokenAdmin(parseConfig(config), { configDir: dir, adapters: { logger } })
    const { token } = await tokens.mint({ name: 'admin', scopes: ['admin:*'] })
    await tokens.close()
    return token
  }
  return { server, send, admin, lines }
}

function createDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'perdure-secrets-'))
  undo.push(() => rmSync(dir, { recursive: true }))
  return dir
}

const WINDOW = 20
const windowsOf = (text: string) =>
  Array.from({ length: text.length - WINDOW + 1 }, (_, at) => text.slice(at, at + WINDOW))

describe('a server', () => {
  it('keeps tokens, and any 20 characters of them, out of files, the log, answers and metrics', async () => {
    const dir = createDir()
    const { send, admin, lines } = await start(dir, { pepperRef: 'env:TOKEN_SECRETS_OLD' })
    const adminToken = await admin()
    const minted: string[] = [adminToken]
    const shown: string[] = []
    for (let n = 0; n < 100; n++) {
      const body = { name: `t${n}`, scopes: ['agents:read', 'tokens:revoke'] }
      const options = n % 2 === 0 ? { key: `key-${n}` } : {}
      const response = await send('/tokens', adminToken, { method: 'POST', body, ...options })
      const { id, token } = (await response.json()) as { id: string; token: string }
      minted.push(token)
      if (n % 10 === 0) {
        const rotated = await send(`/tokens/${id}/rotate`, adminToken, { method: 'POST', body: {}, key: `rotate-${n}` })
        minted.push(((await rotated.json()) as { token: string }).token)
      }
      shown.push(await (await send(`/agents?access_token=${token}`, token)).text())
      shown.push(await (await send('/agents', `${token}x`)).text())
    }
    for (const path of ['/tokens?limit=200', '/metrics', '/health', '/nowhere']) {
      shown.push(await (await send(path, adminToken)).text())
    }

    const { found, look, files } = searchFor(
      minted.map((token) => token.split('_v1_')[1] ?? ''),
      dir,
    )
    look('log', JSON.stringify(lines))
    look('answers', shown.join('\n'))

    expect(files).toContain('data.db-wal')
    expect(minted).toHaveLength(111)
    expect(found).toEqual([])
    // Proves that the search finds a token where there is one.
    look('a token', `some text before ${adminToken}`)
    expect(found.length).toBeGreaterThan(0)
  })
})

describe.each([false, true])('a server (encrypted: %s)', (isEncrypted) => {
  it('keeps peppers, tickets and passphrases out of files, the log, answers and audit exports', async () => {
    const dir = createDir()
    const { server, send, admin, lines } = await start(dir, { pepperRef: 'env:TOKEN_SECRETS_OLD' }, isEncrypted)
    const adminToken = await admin()
    const { host, port, basePath } = await server.start()
    const tickets: string[] = []
    const shown: string[] = []
    for (let n = 0; n < 8; n++) {
      const options = { method: 'POST', body: {}, ...(n % 2 === 0 ? { key: `ticket-${n}` } : {}) }
      const { ticket } = (await (await send('/session/ws-ticket', adminToken, options)).json()) as { ticket: string }
      tickets.push(ticket)
      // The first use of the ticket is accepted, the second is refused; both are logged and recorded.
      for (let use = 0; use < 2; use++) {
        const socket = new WebSocket(`ws://${host}:${port}${basePath}/ws`, ['svc.protocol.v1', `ticket.${ticket}`])
        socket.addEventListener('open', () => use === 0 && socket.close())
        await once(socket, 'close')
      }
      shown.push(await (await send(`/agents?ticket=${ticket}`, ticket)).text())
    }
    for (const path of ['/audit?limit=200', '/audit/export?format=ndjson', '/health', '/health/secrets', '/metrics']) {
      shown.push(await (await send(path, adminToken)).text())
    }
    await server.stop()

    const { found, look, files } = searchFor(
      [...tickets, ...Object.values(PEPPERS), ...Object.values(PASSPHRASES)],
      dir,
    )
    look('log', JSON.stringify(lines))
    look('answers', shown.join('\n'))

    expect(files).toContain(isEncrypted ? 'audit.db' : 'data.db')
    expect(tickets).toHaveLength(8)
    expect(found).toEqual([])
  })
})

/** Searches every file of the folder, and each text passed to `look`, for any 20 consecutive characters of a secret. */
function searchFor(texts: readonly string[], dir: string) {
  const secrets = new Set(texts.flatMap(windowsOf))
  const found: string[] = []
  const look = (where: string, text: string) => {
    for (let at = 0; at + WINDOW <= text.length; at++) if (secrets.has(text.slice(at, at + WINDOW))) found.push(where)
  }
  const files = readdirSync(dir)
  for (const file of files) look(file, readFileSync(join(dir, file), 'latin1'))
  return { found, look, files }
}

describe('a server during a pepper rotation', () => {
  it('accepts old tokens while the old pepper is listed, and later only those used while it was listed', async () => {
    const dir = createDir()
    const before = await start(dir, { pepperRef: 'env:TOKEN_SECRETS_OLD' })
    const adminToken = await before.admin()
    const tokens: string[] = [adminToken]
    for (let n = 0; n < 20; n++) {
      const body = { name: `t${n}`, scopes: ['agents:read'] }
      const response = await before.send('/tokens', adminToken, { method: 'POST', body })
      tokens.push(((await response.json()) as { token: string }).token)
    }
    const idle = tokens.pop() as string
    await before.server.stop()

    const both = { pepperRef: 'env:TOKEN_SECRETS_NEW', previousPepperRefs: ['env:TOKEN_SECRETS_OLD'] }
    const during = await start(dir, both)
    const statuses = await Promise.all(
      Array.from({ length: 10 }, () => tokens.map((token) => during.send('/agents', token))).flat(),
    )
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]))
    await during.server.stop()

    const after = await start(dir, { pepperRef: 'env:TOKEN_SECRETS_NEW' })
    for (const token of tokens) expect((await after.send('/agents', token)).status).toBe(200)
    expect((await after.send('/agents', idle)).status).toBe(401)
  })
})
