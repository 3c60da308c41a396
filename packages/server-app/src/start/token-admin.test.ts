import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '@perdure/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import { openTokenAdmin } from './token-admin.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
process.env.TEST_PEPPER = 'x'.repeat(32)

const open: PerdureServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop({ force: true })
})

describe('openTokenAdmin', () => {
  it('mints a token before the first start, and revokes it while a server is running', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'perdure-')), 'data.db')
    const config = { auth: { pepperRef: 'env:TEST_PEPPER' }, storage: { path }, server: { port: 0 } }
    const admin = await openTokenAdmin(parseConfig(config))
    const { token, record } = await admin.mint({ name: 'test', scopes: ['agents:invoke:echo'] })
    await admin.close()

    const server = await createServer({
      config,
      adapters: { logger },
      agents: [{ id: 'echo', description: 'Echo.', agent: { id: 'echo', run: async (input) => input } }],
    })
    open.push(server)
    const { host, port } = await server.start()
    const run = () =>
      fetch(`http://${host}:${port}/v1/agents/echo/run`, {
        method: 'POST',
        body: JSON.stringify({ input: 1 }),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      })
    expect((await run()).status).toBe(200)

    const beside = await openTokenAdmin(parseConfig(config))
    await beside.revoke(record.id)
    await beside.close()

    const refused = await run()
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ error: 'auth-revoked' })
  })
})
