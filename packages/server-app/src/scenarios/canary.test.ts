import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@perdure/platform-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import { openTokenAdmin } from '../start/token-admin.ts'

const PEPPER = 'canary-pepper-0123456789-abcdefghij'
const PASSPHRASE = 'canary-passphrase-0123456789'
const AUDIT_PASSPHRASE = 'canary-audit-passphrase-0123456789'
const INPUT = 'canary-input-of-a-user'

const lines: string[] = []
const secrets: string[] = [PEPPER, PASSPHRASE, AUDIT_PASSPHRASE, INPUT]
let directory: string

const agents = [
  { id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input: unknown) => input } },
  {
    id: 'fails',
    description: 'Throws an error that contains a token.',
    agent: { id: 'fails', run: async () => Promise.reject(new Error(`refused: ${secrets.at(-1)}`)) },
  },
]

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-canary-'))
  const environment = { CANARY_PEPPER: PEPPER, CANARY_PASSPHRASE: PASSPHRASE, CANARY_AUDIT: AUDIT_PASSPHRASE }
  Object.assign(process.env, environment)
  const config = {
    server: { port: 0, rateLimit: { perIpRequests: 1_000 } },
    auth: { pepperRef: 'env:CANARY_PEPPER' },
    storage: {
      path: join(directory, 'data.db'),
      encryption: { enabled: true, passphraseRef: 'env:CANARY_PASSPHRASE' },
    },
    audit: { enabled: true, path: join(directory, 'audit.db'), passphraseRef: 'env:CANARY_AUDIT' },
  }
  const logger = createLogger({ level: 'debug', stream: { write: (text) => lines.push(text) } })
  const admin = await openTokenAdmin(parseConfig(config), { adapters: { logger } })
  const { token } = await admin.mint({ name: 'canary', scopes: ['admin:*'] })
  await admin.close()
  secrets.push(token)
  const server = await createServer({ config, agents, adapters: { logger } })
  const { host, port, basePath } = await server.start()
  await useEverything(`http://${host}:${port}${basePath}`, token)
  await server.stop({ force: true })
})
afterAll(() => rmSync(directory, { recursive: true }))

/** Sends every secret in every part of a request, both in accepted and in refused requests. */
async function useEverything(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = (path: string, body: unknown, over: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', headers: { ...headers, ...over }, body: JSON.stringify(body) })

  for (const agent of ['echo', 'fails', 'unknown']) await (await post(`/agents/${agent}/run`, { input: INPUT })).text()
  await fetch(`${url}/agents?token=${token}&pepper=${PEPPER}`, { headers })
  await fetch(`${url}/nowhere/${token}`, { headers })
  await fetch(`${url}/agents/${token}`, { headers: { authorization: `Basic ${PASSPHRASE}`, cookie: `s=${token}` } })
  await fetch(`${url}/agents`, { headers: { authorization: `Bearer ${token}x` } })
  await post('/agents/echo/run', { [PASSPHRASE]: token })
  await post('/agents/echo/run', { input: 1 }, { 'idempotency-key': token, 'x-request-id': token })
  const minted = (await (await post('/tokens', { name: 'other', scopes: ['agents:read'] })).json()) as { token: string }
  const { ticket } = (await (await post('/session/ws-ticket', {})).json()) as { ticket: string }
  secrets.push(minted.token, ticket)
  for (let use = 0; use < 2; use++) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['svc.protocol.v1', `ticket.${ticket}`])
    await once(socket, 'open')
    socket.send(`{"jsonrpc":"2.0","id":"${token}","method":"${ticket}"}`)
    await once(socket, use === 0 ? 'message' : 'close')
    socket.close()
  }
}

describe('the log of a server', () => {
  it('contains lines about requests and runs', () => {
    const messages = lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg)

    expect(messages.filter((message) => message === 'request').length).toBeGreaterThan(8)
    expect(messages).toEqual(expect.arrayContaining(['run started', 'run completed', 'run failed']))
  })

  it('contains no secret and no user input at any level', () => {
    expect(new Set(secrets).size).toBe(7)
    for (const secret of secrets) expect(lines.filter((line) => line.includes(secret.slice(-20)))).toEqual([])
  })
})
