import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunContext } from '@perdure/core'
import { createPrometheusMeter, systemClock } from '@perdure/platform-node'
import type { EpochMs, Logger } from '@perdure/ports'
import { METRICS, type MetricSpec } from '@perdure/protocol'
import { openSqliteStorage } from '@perdure/sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { toolPath } from '../../../../tooling/machine-tools.ts'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import { openTokenAdmin } from '../start/token-admin.ts'
import { createScrape, type ScrapeDeps } from './scrape.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
process.env.TEST_PEPPER = 'x'.repeat(32)

/** An idle event loop has no delay, and a storage without other writers has no tail. */
const MAY_BE_ZERO: ReadonlySet<string> = new Set(['svc_event_loop_delay_seconds', 'svc_log_tail_lag_seconds'])

const METRIC_ROWS = Object.entries<MetricSpec>(METRICS)

/** Of a database server, which the server of this test does not use; see `storage-server-meter.test.ts`. */
const OF_POSTGRES =
  /^svc_(?:storage_(?:commits_unknown_total|connections(?:_refused_total)?|group_commits|retries_total)|cluster_.*|duty|node.*|runs_taken_over_total)$/
const SAMPLE = /^(?<name>[a-z_]+)(?:\{(?<labels>(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (?<value>-?[\d.e+-]+|\+Inf)$/

interface Sample {
  readonly name: string
  readonly series: string
  readonly value: number
}

/** Parses the samples of an exposition. @throws Error on a malformed line */
function parse(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !/^# (HELP|TYPE) (?:svc|gen_ai)_/.test(line))
    .map((line) => {
      const { name, labels, value } = SAMPLE.exec(line)?.groups ?? {}
      if (name === undefined) throw new Error(`not a sample: ${line}`)
      return { name, series: labels === undefined ? name : `${name}{${labels}}`, value: Number(value) }
    })
}

const held = Promise.withResolvers<void>()
const followed = Promise.withResolvers<void>()
const judged = Promise.withResolvers<void>()
const agents = [
  {
    id: 'scored',
    description: 'Has a scorer.',
    agent: { id: 'scored', run: async () => 'judge me' },
    scorers: {
      use: [
        {
          name: 'passes',
          score() {
            judged.resolve()
            return { pass: true }
          },
        },
      ],
    },
  },
  {
    id: 'works',
    description: 'Calls a tool and a model, and emits an e-mail address as commentary.',
    agent: {
      id: 'works',
      async run(_: unknown, { tool, usage, emit, step }: RunContext) {
        await tool({ name: 'search', execute: () => 1 })
        await usage({ provider: 'acme', model: 'small', inputTokens: 5, outputTokens: 7, costUsd: 0.25 })
        const model = { provider: 'acme', model: 'small' }
        const tokens = { inputTokens: 5, outputTokens: 7 }
        await step('ask', ({ modelAnswered }) => modelAnswered({ usage: tokens }), { model })
        await emit('text.delta', { delta: 'mail bob@example.com' }, { phase: 'commentary' })
      },
    },
  },
  {
    id: 'fails',
    description: 'Always fails.',
    agent: { id: 'fails', run: () => Promise.reject(new Error('no')) },
  },
  {
    id: 'picky',
    description: 'Refuses every input.',
    input: { '~standard': { version: 1 as const, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) } },
    agent: { id: 'picky', run: async () => 1 },
  },
  {
    id: 'holds',
    description: 'Emits an event once a client is subscribed, and ends when it is released.',
    agent: {
      id: 'holds',
      async run(_: unknown, { emit }: RunContext) {
        await followed.promise
        await emit('text.delta', { delta: 'here' })
        await held.promise
      },
    },
  },
]
const workflows = [
  { id: 'steps', description: 'Ends at once.', workflow: { id: 'steps', execute: async () => 'done' } },
]

const triggers = [{ id: 'paid', kind: 'event' as const, event: 'order.paid', target: { agentId: 'picky' } }]

/** Every delivery fails: that of a test is given up at once, that of an event is retried later. */
const webhookSender = { refusalOf: () => undefined, send: async () => ({ error: 'unreachable' }) }

const PER_MINUTE = 60
let directory: string
let server: PerdureServer
let url: string
let authorization: string
let text: string
let samples: readonly Sample[]

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-scrape-'))
  const config = {
    server: { port: 0, rateLimit: { perIpRequests: PER_MINUTE } },
    auth: { pepperRef: 'env:TEST_PEPPER' },
    storage: { path: join(directory, 'data.db') },
    runs: { concurrency: 1 },
    consolidator: { tokensPerDay: 1_000 },
    webhooks: { in: [{ id: 'shop', verify: () => ({ deliveryId: 'one' }), to: { event: 'shop.changed' } }] },
  }
  const admin = await openTokenAdmin(parseConfig(config), { adapters: { logger } })
  const { token } = await admin.mint({ name: 'test', scopes: ['admin:*'] })
  await admin.close()
  await storeDeadLetter(config.storage.path)
  authorization = `Bearer ${token}`
  const mcpServers = [{ id: 'web', url: 'https://mcp.example/', tokenExpiresAt: '2100-01-01T00:00:00Z' }]
  server = await createServer({
    ...{ config, agents, workflows, triggers, mcpServers },
    consolidator: { merge: () => held.promise.then(() => ({})) },
    adapters: { logger, droppedLogLines: () => 3, webhookSender },
  })
  const { host, port, basePath } = await server.start()
  url = `http://${host}:${port}${basePath}`
  await scenario()
  text = await (await fetch(`${url}/metrics`)).text()
  samples = parse(text)
})
afterAll(async () => {
  held.resolve()
  await openStream.body?.cancel()
  await server.stop({ force: true })
  rmSync(directory, { recursive: true })
})

/** Stores a consolidator job that has exhausted its attempts. */
async function storeDeadLetter(path: string) {
  const storage = await openSqliteStorage({ path })
  const [id, lease, now] = ['job-dead', 'lease', 0 as EpochMs]
  await storage.unitOfWork.commit([
    { type: 'job.enqueue', job: { id, key: 'dead', phase: 'decay', createdAt: now, dueAt: now } },
    { type: 'job.claim', id, lease, now, until: now },
    { type: 'job.fail', id, lease, now, attempts: 5 },
  ])
  await storage.close()
}

const post = async (path: string, headers: Record<string, string> = {}) => {
  const options = { method: 'POST', body: '{}' }
  return fetch(url + path, { ...options, headers: { authorization, 'content-type': 'application/json', ...headers } })
}
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(url + path, { headers: { authorization, ...headers } })

const jsonOf = async (response: Response) =>
  (await response.json()) as { readonly runId: string; readonly status: string }

let failed: { readonly runId: string; readonly status: string }
let failedRecord: { readonly status: string }
/** Kept, because fetch ends the stream of a response that is collected. */
let openStream: Response

/** A webhook with a dead and a pending delivery. */
async function failDeliveries() {
  const headers = { authorization, 'content-type': 'application/json' }
  const body = JSON.stringify({ id: 'down', url: 'https://hooks.example/', events: ['run.*'] })
  await fetch(`${url}/webhooks`, { method: 'POST', headers, body })
  await post('/webhooks/down/test')
}

/** Changes every metric, and leaves one run executing, one run queued and one stream open. */
async function scenario() {
  await post('/agents/scored/run')
  await judged.promise
  await failDeliveries()
  const work = async () => jsonOf(await post('/agents/works/run', { 'idempotency-key': 'k' }))
  const { runId: ended } = await work()
  for (let n = 0; n < 2; n++) await work()
  await post('/events/order.paid')
  const fires = async () =>
    ((await (await get('/triggers/paid/fires')).json()) as { items: { status: string }[] }).items
  await vi.waitFor(async () => expect((await fires())[0]?.status).toBe('failed'), { timeout: 60_000 })
  failed = await jsonOf(await post('/agents/fails/run'))
  failedRecord = await jsonOf(await get(`/runs/${failed.runId}`))
  await jsonOf(await post('/workflows/steps/execute', { prefer: 'wait=10' }))
  await (await get(`/runs/${ended}/events`, { accept: 'text/event-stream' })).text()
  await get('/agents', { authorization: 'Bearer nonsense' })
  const { runId } = await jsonOf(await post('/agents/holds/stream'))
  await post('/agents/holds/stream')
  await post('/consolidator/run')
  const stream = await get(`/runs/${runId}/events`, { accept: 'text/event-stream' })
  // The replay buffer keeps events only while a client follows them.
  openStream = await get(`/runs/${runId}/events`, { accept: 'text/event-stream' })
  followed.resolve()
  for await (const chunk of stream.body ?? []) if (new TextDecoder().decode(chunk).includes('text.delta')) break
  const { ticket } = (await (await post('/session/ws-ticket')).json()) as { readonly ticket: string }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['svc.protocol.v1', `ticket.${ticket}`])
  await once(socket, 'open')
  await post('/hooks/shop')
  while ((await get('/agents')).status !== 429);
}

describe('GET /metrics', () => {
  it.each(METRIC_ROWS.filter(([name]) => !OF_POSTGRES.test(name)))(
    'includes %s with a value that the measured code has recorded',
    (name, { type }) => {
      const shown = samples.filter((sample) => sample.name === (type === 'histogram' ? `${name}_count` : name))

      expect(shown.length).toBeGreaterThan(0)
      if (!MAY_BE_ZERO.has(name)) expect(Math.max(...shown.map(({ value }) => value))).toBeGreaterThan(0)
    },
  )

  it('includes exactly the metrics in METRICS', () => {
    const isShown = (name: string) => !OF_POSTGRES.test(name)
    const names = new Set(samples.map(({ name }) => name).filter(isShown))
    const expected = METRIC_ROWS.filter(([name]) => isShown(name)).flatMap(([name, { type }]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    )

    expect([...names].toSorted()).toEqual(expected.toSorted())
  })

  it('counts exactly the actions of the scenario', () => {
    const values = new Map(samples.map(({ series, value }) => [series, value]))

    expect(
      [
        'svc_agent_runs_total{agent="works",status="completed"}',
        'svc_workflow_runs_total{workflow="steps",status="completed"}',
        'svc_idempotency_requests_total{outcome="new"}',
        'svc_idempotency_requests_total{outcome="replayed"}',
        'svc_tool_calls_total{tool="search",outcome="ok"}',
        'svc_provider_tokens_total{provider="acme",model="small",direction="output"}',
        'svc_provider_cost_usd_total{provider="acme",model="small"}',
        'svc_redaction_drops_total{rule="email"}',
        'svc_auth_failures_total{code="auth-invalid"}',
        'svc_inflight_runs{kind="agent"}',
        'svc_inflight_runs{kind="workflow"}',
        'svc_queued_runs',
        'svc_consolidator_queue_depth{phase="merge"}',
        'svc_consolidator_dead_letters',
        'svc_consolidator_budget_remaining{unit="tokens"}',
        'svc_subscriptions{transport="sse"}',
        'svc_rate_limited_total',
      ].map((series) => values.get(series)),
    ).toEqual([1, 1, 1, 2, 1, 7, 0.25, 1, 1, 1, 0, 1, 1, 1, 1_000, 1, 1])
    expect(values.get('svc_idempotency_hit_ratio')).toBeCloseTo(1 / 3)
  })

  it('labels a failed run with the status that the answer and the stored run have', () => {
    const series = samples.map((sample) => `${sample.series} ${sample.value}`)

    expect([failed.status, failedRecord.status]).toEqual(['failed', 'failed'])
    expect(series.filter((line) => line.startsWith('svc_agent_runs_total{agent="fails"'))).toEqual([
      'svc_agent_runs_total{agent="fails",status="failed"} 1',
    ])
  })

  it('answers even if the storage has failed', async () => {
    const read = scrapeOf({ status: () => Promise.reject(new Error('closed')) })

    const { text } = await read.readMetrics()
    expect(text).toContain('svc_inflight_runs{kind="workflow"} 2')
    expect(text).toContain('svc_oauth_token_freshness_seconds{server="web"} 1.5')
  })

  it('shows how far the tail of a shared log lags behind', async () => {
    const state = () => ({ isCurrent: true, lagMs: 250, isListening: true })
    const status = async () => ({ writable: true, walBytes: 0, dbBytes: 0 })
    const read = scrapeOf({ status, tail: { follow: ignore, state } })

    expect((await read.readMetrics()).text).toContain('svc_log_tail_lag_seconds 0.25')
  })

  needsTool('promtool').it('passes promtool', () => {
    const { status, stdout, stderr } = spawnSync(toolPath('promtool'), ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    })

    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})

it('shows the servers of a cluster, their queue and the duties of this one', async () => {
  const health = { ready: 2, draining: 1, queuedRuns: 4, oldestQueuedSeconds: 9, runsWithoutCode: 3 }
  const duties = [{ name: 'timers', isMine: true } as const, { name: 'sweep', isMine: false } as const]
  const gauges = () => ({ health, leaseMs: 4_500, duties })
  const { text } = await scrapeOf(
    { status: async () => ({ writable: true, walBytes: 0, dbBytes: 0 }) },
    { gauges },
  ).readMetrics()

  expect(text.split('\n').filter((line) => /^svc_(?:cluster|duty|node)/.test(line))).toEqual([
    ...['svc_cluster_oldest_queued_seconds 9', 'svc_cluster_queued_runs 4', 'svc_cluster_runs_without_code 3'],
    ...['svc_duty{name="timers"} 1', 'svc_duty{name="sweep"} 0', 'svc_node_lease_seconds 4.5'],
    ...['svc_nodes{status="ready"} 2', 'svc_nodes{status="draining"} 1'],
  ])
})

/** A scrape of a server that does nothing. */
const scrapeOf = (storage: ScrapeDeps['storage'], nodeWatch: ScrapeDeps['nodeWatch'] = { gauges: ignore }) =>
  createScrape({
    meter: createPrometheusMeter(),
    clock: systemClock,
    vitals: { eventLoopDelaySeconds: () => 0, residentMemoryBytes: () => 1, close: ignore },
    ...{ storage, nodeWatch },
    engine: { readLoad: () => ({ executing: { agent: 0, workflow: 2 }, queued: 0 }) },
    streams: { size: () => 0 },
    webSockets: { size: () => 0, subscriptions: () => 0 },
    hub: { stats: () => ({ events: 0, subjects: 0, bytes: 0 }) },
    droppedLogLines: () => 0,
    tokenFreshness: () => [{ server: 'web', seconds: 1.5 }],
    consolidator: {
      readState: () => ({
        counts: { extract: 0, merge: 0, decay: 0, deadLetters: 0 },
        budget: { tokens: { limit: null, remaining: null }, usd: { limit: null, remaining: null } },
      }),
    },
  })
