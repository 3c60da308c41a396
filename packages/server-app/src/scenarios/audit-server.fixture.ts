import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger, Storage, Write } from '@perdure/ports'
import { perdureError } from '@perdure/ports'
import type { ServerConfigInput } from '@perdure/protocol'
import { afterEach, beforeEach } from 'vitest'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import { openTokenAdmin } from '../start/token-admin.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
export const MARKER = 'marker-found-nowhere-else'
process.env.TEST_AUDIT_PEPPER = 'p'.repeat(32)
process.env.TEST_AUDIT_PASSPHRASE = MARKER

export let directory: string
let servers: PerdureServer[] = []

/** Gives each test of a file its folder, and stops the servers of the test. */
export function useAuditFolder(): void {
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'perdure-audit-'))
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop({ force: true })
    servers = []
    rmSync(directory, { recursive: true })
  })
}

export const CONFIG = {
  server: { port: 0, rateLimit: { perIpRequests: 10_000 } },
  auth: { pepperRef: 'env:TEST_AUDIT_PEPPER' },
  storage: { path: 'data.db' },
} satisfies ServerConfigInput
export const FILE = {
  ...CONFIG,
  audit: { enabled: true, path: 'audit.db', passphraseRef: 'env:TEST_AUDIT_PASSPHRASE' },
} satisfies ServerConfigInput

interface Entry {
  readonly seq: number
  readonly action: string
  readonly detail?: Readonly<Record<string, unknown>>
}

export async function start(config: ServerConfigInput, storage?: Storage) {
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

export async function mint(scope: string, config: ServerConfigInput, storage?: Storage): Promise<string> {
  const admin = await openTokenAdmin(parseConfig(config), {
    configDir: directory,
    adapters: { logger, ...(storage && { storage }) },
  })
  const { token } = await admin.mint({ name: 'test', subject: scope, scopes: [scope] })
  await admin.close()
  return token
}

export const actions = (entries: readonly Entry[]) => entries.map(({ action }) => action)

/** After `fail(true)`, every commit that writes to the audit chain fails, until `fail(false)`. */
export function failing(storage: Storage): { readonly storage: Storage; readonly fail: (isOn: boolean) => void } {
  let isOn = false
  const commit = async (writes: readonly Write[]) => {
    if (isOn && writes.some(({ type }) => type.startsWith('audit.'))) throw perdureError('storage-full')
    return storage.unitOfWork.commit(writes)
  }
  const fail = (on: boolean) => {
    isOn = on
  }
  return { storage: { ...storage, unitOfWork: { commit } }, fail }
}
