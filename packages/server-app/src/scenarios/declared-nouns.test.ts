import { DECLARED_NOUNS, type DeclaredNoun } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { nodeDigest } from '@perdure/platform-node'
import { type EpochMs, EVERY_ROW, type Logger, type NodeDirectory, type Storage } from '@perdure/ports'
import { aDelivery, aHookDelivery, anEvent, aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createAttribution } from '../compose/attribution.ts'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import type { ServerOptions } from '../server-options.ts'
import { readMcpServers } from '../start/mcp-servers.ts'
import { nodeIdentity } from '../start/node-identity.ts'
import { createRegisteredSkills } from '../start/registered-skills.ts'
import { createRegistries } from '../start/registries.ts'
import { readWebhookEndpoints } from '../start/webhook-endpoints.ts'
import { createMovableClock } from '../testing/movable-clock.ts'

process.env.DECLARED_HOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const DAY = 86_400_000
const START = Date.parse('2026-03-01T00:00:00Z')
const echo = { id: 'echo', description: 'Answers.', agent: { id: 'echo', run: async () => 'done' } }
const hook = { id: 'sink', url: 'https://hooks.example/in', secretRef: 'env:DECLARED_HOOK_SECRET' }
const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const OLD_ENTRY = { actor: { kind: 'system', subject: 'test' }, action: 'old', decision: 'allowed' } as const

interface Declared {
  readonly newer: ServerOptions
  readonly older: ServerOptions
}

/** For each noun, a configuration that declares it and an earlier one that does not. */
const CASES: Readonly<Record<DeclaredNoun, Declared>> = {
  trigger: {
    newer: {
      agents: [echo],
      triggers: [{ id: 'nightly', kind: 'cron', cron: '0 0 * * *', target: { agentId: 'echo' } }],
    },
    older: { agents: [echo] },
  },
  webhook: { newer: { webhookEndpoints: [hook] }, older: {} },
  retention: {
    newer: { config: { retention: { eventsDays: 30, runsDays: 30 } } },
    older: { config: { retention: { eventsDays: 1, runsDays: 1 } } },
  },
  'webhook-retention': {
    newer: { webhookEndpoints: [hook], config: { webhooks: { retentionDays: 30 } } },
    older: { webhookEndpoints: [hook], config: { webhooks: { retentionDays: 4 } } },
  },
  'hook-retention': {
    newer: { config: { webhooks: { inKeepDays: 30 } } },
    older: { config: { webhooks: { inKeepDays: 1 } } },
  },
  'audit-retention': {
    newer: { config: { audit: { retentionDays: 30 } } },
    older: { config: { audit: { retentionDays: 1 } } },
  },
  'mcp-server': { newer: { mcpServers: [{ id: 'tools', url: 'http://127.0.0.1:9/mcp' }] }, older: {} },
  skill: { newer: { skills: [{ name: 'sums', description: 'Adds.', instructions: 'Add.' }] }, older: {} },
  agent: { newer: { agents: [echo] }, older: {} },
  workflow: {
    newer: { workflows: [{ id: 'flow', description: 'Flows.', workflow: { id: 'flow', execute: async () => 1 } }] },
    older: {},
  },
  redaction: { newer: { config: { realtime: { sanitizer: { policy: 'strip' } } } }, older: {} },
}

/** What a process with the configuration tells the others. */
async function identityOf({ config = {}, agents = [], workflows = [], triggers = [], ...options }: ServerOptions) {
  return nodeIdentity({
    ...createRegistries({ agents, workflows }, createAttribution()),
    ...{ config: parseConfig(config), triggers, mcpServers: readMcpServers(options.mcpServers ?? []) },
    ...{ skills: createRegisteredSkills([]), registeredSkills: createRegisteredSkills(options.skills ?? []) },
    ...{ webhookEndpoints: readWebhookEndpoints(options.webhookEndpoints ?? []) },
    ...{ secrets: { peppers: [] }, digest: nodeDigest },
  })
}

/** A living process with the configuration, as the others see it. */
async function livingNode(options: ServerOptions) {
  const identity = await identityOf(options)
  const record = { ...identity, id: 'newer', name: 'newer', startedAt: START as EpochMs, leaseMs: 1 }
  const nodes: NodeDirectory = {
    list: async () => [{ ...record, isDraining: false, runs: 0, duties: [] }],
    requestDrain: async () => false,
    onDrainRequested: ignore,
    load: async () => ({ queued: 0, oldestMs: 0, withoutCode: 0 }),
    leaseMs: () => 1,
  }
  return nodes
}

async function idsIn({ audit, webhooks, deliveries, hookDeliveries, triggers, runs, events, mcpServers }: Storage) {
  const page = { limit: 100, order: 'asc' } as const
  const active = (await triggers.list(page)).items.filter(({ orphanedAt }) => orphanedAt === undefined)
  return {
    webhooks: (await webhooks.list()).map(({ id }) => id),
    deliveries: (await deliveries.list({ webhookId: 'sink' }, page)).items.map(({ id }) => id),
    received: (await hookDeliveries.list({ hookId: 'shop' }, page)).items.map(({ id }) => id),
    triggers: active.map(({ id }) => id),
    runs: (await runs.list({}, page, EVERY_ROW)).items.flatMap(({ id }) => (id === 'ended' ? [id] : [])),
    mcpServers: (await mcpServers.list()).map(({ id }) => id),
    audited: (await audit.read({ afterSeq: 0, limit: 100 })).flatMap(({ action }) =>
      action === 'old' ? [action] : [],
    ),
    old: await events.count({ topic: 'old' }, { after: 0, through: 1_000 }),
  }
}

/** Runs a server on the storage for the given time. */
async function serve(storage: Storage, options: ServerOptions, { from, forMs }: { from: number; forMs: number }) {
  const clock = createMovableClock(from)
  const adapters = { storage, logger, clock, timers: clock }
  const server = await createServer({ ...options, config: { auth: { kind: 'none' }, ...options.config }, adapters })
  await server.start({ listen: false })
  for (let passed = 0; passed < forMs; passed += 30_000) {
    clock.pass(30_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
  await server.stop({ force: true })
}

async function withRows(storage: Storage, { newer }: Declared) {
  await serve(storage, newer, { from: START, forMs: 0 })
  const at = START as EpochMs
  const ended = { status: 'completed', targetId: 'gone', createdAt: at, completedAt: at } as const
  await storage.unitOfWork.commit([
    { type: 'run.insert', run: aRun({ id: 'ended', ...ended }) },
    { type: 'event.append', events: [anEvent({ topic: 'old', at })] },
    { type: 'hook-delivery.insert', delivery: aHookDelivery({ createdAt: at }) },
    { type: 'audit.append', keys: [Buffer.from('key')], entry: { at, ...OLD_ENTRY } },
  ])
  if (newer.webhookEndpoints === undefined) return
  const delivery = aDelivery({ id: 'sent', webhookId: 'sink', position: 0, status: 'delivered', createdAt: at })
  await storage.unitOfWork.commit([{ type: 'delivery.insert', delivery }])
}

const NOUNS = Object.keys(CASES) as DeclaredNoun[]

describe('a server with an earlier configuration', () => {
  it.each(NOUNS)('deletes and stops nothing while a server with a newer %s lives', async (noun) => {
    const storage = createInMemoryStorage()
    await withRows(storage, CASES[noun])
    const before = await idsIn(storage)
    const nodes = await livingNode(CASES[noun].newer)

    await serve({ ...storage, nodes }, CASES[noun].older, { from: START + 10 * DAY, forMs: 2 * 3_600_000 })

    expect(await idsIn(storage)).toMatchObject(before)
  })

  it.each(NOUNS.filter((noun) => DECLARED_NOUNS[noun].effect !== 'limit'))(
    'deletes and stops nothing at once when it starts alone without the newer %s',
    async (noun) => {
      const storage = createInMemoryStorage()
      await withRows(storage, CASES[noun])
      const before = await idsIn(storage)

      await serve(storage, CASES[noun].older, { from: START + 60_000, forMs: 1_800_000 })

      expect(await idsIn(storage)).toMatchObject(before)
    },
  )

  it.each(NOUNS.filter((noun) => DECLARED_NOUNS[noun].effect === 'limit'))(
    'deletes by its own limits alone when no server with a newer %s lives',
    async (noun) => {
      const storage = createInMemoryStorage()
      await withRows(storage, CASES[noun])
      const before = await idsIn(storage)

      await serve(storage, CASES[noun].older, { from: START + 10 * DAY, forMs: 2 * 3_600_000 })

      expect(await idsIn(storage)).not.toMatchObject(before)
    },
  )

  it.each(NOUNS)('is reported as different from a server with a newer %s', async (noun) => {
    const [newer, older] = [await identityOf(CASES[noun].newer), await identityOf(CASES[noun].older)]

    expect(newer.settings).not.toEqual(older.settings)
  })
})
