import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger, Storage, WebhookRequest } from '@perdure/ports'
import { expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import { createMovableClock } from '../testing/movable-clock.ts'

process.env.COPY_HOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const START = Date.parse('2026-03-01T00:30:00Z')
const HOUR = 3_600_000
const ignore = () => undefined

const declared = {
  agents: [{ id: 'echo', description: 'Answers.', agent: { id: 'echo', run: async () => 'done' } }],
  triggers: [{ id: 'hourly', kind: 'cron', cron: '0 * * * *', target: { agentId: 'echo' } }],
  webhookEndpoints: [{ id: 'sink', url: 'https://hooks.example/in', secretRef: 'env:COPY_HOOK_SECRET' }],
} as const

/** Serves the storage for an hour in which a run is started by hand. */
async function serve(storage: Storage, { from, enabled }: { readonly from: number; readonly enabled: boolean }) {
  const clock = createMovableClock(from)
  const sent: WebhookRequest[] = []
  const warnings: string[] = []
  const send = async (request: WebhookRequest) => {
    sent.push(request)
    return { status: 204 }
  }
  const logger: Logger = { debug: ignore, info: ignore, error: ignore, warn: (message) => void warnings.push(message) }
  const adapters = { storage, logger, clock, timers: clock, webhookSender: { refusalOf: ignore, send } }
  const config = { auth: { kind: 'none' }, triggers: { enabled }, webhooks: { enabled } } as const
  const server = await createServer({ ...declared, config, adapters })
  await server.start({ listen: false })
  const body = JSON.stringify({ input: 1 })
  const headers = { 'content-type': 'application/json' }
  const url = 'http://localhost/v1/agents/echo/run'
  expect((await server.fetch(new Request(url, { method: 'POST', headers, body }))).status).toBe(200)
  for (let passed = 0; passed < HOUR; passed += 30_000) {
    clock.pass(30_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const health = await (await server.fetch(new Request('http://localhost/v1/health'))).json()
  if (enabled) await expect.poll(() => sent.length).toBeGreaterThan(1)
  await server.stop({ force: true })
  const fires = (await storage.fires.list({ triggerId: 'hourly' }, { limit: 200, order: 'asc' })).items
  return { sent: sent.map(({ body }) => JSON.parse(body).type), fires: fires.length, warnings, health }
}

it('fires no trigger and sends no webhook while both are off, and does both at a later start', async () => {
  const storage = createInMemoryStorage()

  const off = await serve(storage, { from: START, enabled: false })
  expect(off).toMatchObject({ sent: [], fires: 0, health: { checks: { triggers: { running: false, active: 1 } } } })
  expect(off.warnings).toEqual([
    expect.stringContaining('triggers.enabled is false'),
    expect.stringContaining('webhooks.enabled is false'),
  ])

  const on = await serve(storage, { from: START + 2 * HOUR, enabled: true })
  expect(on.fires).toBeGreaterThan(0)
  // The run of the first start, and that of the second.
  expect(on.sent.filter((type) => type === 'run.completed').length).toBeGreaterThan(1)
  expect(on.warnings).toEqual([])
})
