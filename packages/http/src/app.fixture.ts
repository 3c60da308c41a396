import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import {
  createAgentRegistry,
  createAuth,
  createConsolidator,
  createEngine,
  createEventHub,
  createManageTokens,
  createMemory,
  createPhase,
  createReadHealth,
  createRecall,
  createWorkflowRegistry,
  type RunContext,
  type RunServices,
} from '@berth/core'
import { createInMemoryStorage } from '@berth/in-memory'
import { type Digest, type LogFields, type Logger, noMeter, type Sealer, type Storage } from '@berth/ports'
import { createManualClock, createSequenceIds, type ManualClock } from '@berth/testkit'
import { createHttpApp } from './app.ts'
import type { AnswerNote, HttpAppDeps, HttpConfig } from './http-app-deps.ts'

const CONFIG: HttpConfig = {
  basePath: '/v1',
  bodyLimitBytes: 1_000,
  allowOrigins: [],
  csrfEnabled: true,
  trustProxy: 0,
  perIpRequests: 1_000,
  requireKey: 'warn',
  authKind: 'token',
  host: '127.0.0.1',
  allowedHosts: [],
  docsEnabled: true,
  metricsEnabled: true,
  metricsRequireAuth: true,
}

interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields | undefined
}

export interface AppOptions {
  readonly config?: Partial<HttpConfig>
  readonly deps?: Partial<HttpAppDeps>
  /** Who may call: anyone (when missing), or holders of tokens. */
  readonly auth?: 'none' | 'token'
  /** Another app on the storage and the clock of this one. */
  readonly on?: { readonly storage: Storage; readonly clock: ManualClock }
  readonly peppers?: readonly Uint8Array[]
  readonly blockValid?: boolean
}

/** The whole app over the real use cases on in-memory storage; only the opening of streams is a stub. */
export function createTestApp(options: AppOptions = {}) {
  const { config, deps, auth = 'none', peppers = [PEPPER], blockValid = false } = options
  const { storage, clock } = options.on ?? {
    storage: createInMemoryStorage({ epoch: 'e1' }),
    clock: createManualClock(),
  }
  const ids = createSequenceIds()
  const lines: LogLine[] = []
  const notes: AnswerNote[] = []
  const streams: unknown[] = []
  const logger = recordingLogger(lines)
  const agents = createAgentRegistry()
  const echo = { id: 'echo', run: async (input: unknown) => input }
  const hold = { id: 'hold', run: () => new Promise<never>(() => {}) }
  agents.register({ id: 'echo', description: 'Answers its input.', agent: echo })
  agents.register({ id: 'hold', description: 'Never ends.', agent: hold, concurrency: 'single' })
  const workflows = createWorkflowRegistry()
  const steps = { id: 'steps', execute: async (_: unknown, { step }: RunContext) => step('one', () => 1) }
  workflows.register({ id: 'steps', description: 'Makes one step.', workflow: steps })
  const phase = createPhase()
  phase.enter('ready')

  const engine = createEngine({
    services: () => ({}) as RunServices,
    ...storage,
    ...{ clock, timers: clock, ids, meter: noMeter, agents, workflows, phase, logger, basePath: '/v1' },
    limits: {
      ...{ concurrency: 64, maxQueued: 100, idempotencyTtlMs: 86_400_000 },
      ...{ maxResultBytes: 1_000_000, maxEventBytes: 1_000, abortGraceMs: 5_000 },
    },
  })

  const shared = {
    ...{ ...storage, clock, timers: clock, ids, digest: testDigest, logger, peppers },
    ...{ basePath: '/v1', idempotencyTtlMs: 86_400_000 },
  }
  const gate = createAuth({
    ...{ ...shared, kind: auth, blockValid, sealer: testSealer },
  })
  const memory = createMemory({
    ...{ ...shared, hub: createEventHub(), embedder: undefined },
    limits: { ...{ maxFactBytes: 500, blockLimit: 50, similarityPercent: 70 }, vectorCandidates: 9, embedTimeoutMs: 9 },
  })
  const consolidator = createConsolidator({
    ...{ ...shared, phase, decisions: memory.decisions, given: {} },
    limits: {
      ...{ enabled: true, idleAfterMs: 1_000, leaseMs: 1_000, halfLifeDays: 30 },
      ...{ tokensPerDay: 1_000, usdCentsPerDay: undefined },
    },
  })

  const app = createHttpApp({
    config: { ...CONFIG, ...config },
    ...{ version: '0.1.0', clock, digest: testDigest, ids, logger, meter: noMeter },
    recall: createRecall({ idempotency: storage.idempotency, clock, sealer: testSealer }),
    ...{ ...engine, ...gate, ...memory, ...consolidator },
    openReplayStream: (recording, speed) => new Response(JSON.stringify({ recording, speed })),
    readHealth: createReadHealth({
      ...{ storage, phase, clock, version: '0.1.0', walWarnThresholdBytes: 1_000, secretsStore: 'env' },
      ...{ checkEmbedder: memory.checkEmbedder, checkConsolidator: consolidator.checkConsolidator },
    }),
    readMetrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'svc_up 1\n' }),
    readSecretsHealth: () => ({ active: 'env', fallbackChain: ['env'], references: [] }),
    async openRunStream(request) {
      streams.push(request)
      const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache, no-transform' }
      return new Response('id: e1.0\ndata:\n\n', { headers })
    },
    onAnswer: (note) => notes.push(note),
    ...deps,
  })

  return { app, storage, clock, phase, lines, notes, streams, manage: createManageTokens(shared) }
}

export const testDigest: Digest = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
  deriveKey: (secret, purpose) => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32)),
  equals: (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b)),
}

/** Hides the text from a search; what a real one does is tested where it is. */
const testSealer: Sealer = {
  seal: (text, context) => Buffer.from(JSON.stringify([context, text])).toString('hex'),
  open(sealed, context) {
    const [sealedFor, text] = JSON.parse(Buffer.from(sealed, 'hex').toString())
    return sealedFor === context ? text : undefined
  },
}

export const PEPPER: Uint8Array = new Uint8Array(32).fill(7)

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

function recordingLogger(lines: LogLine[]): Logger {
  return {
    debug: (message, fields) => lines.push({ level: 'debug', message, fields }),
    info: (message, fields) => lines.push({ level: 'info', message, fields }),
    warn: (message, fields) => lines.push({ level: 'warn', message, fields }),
    error: (message, _error, fields) => lines.push({ level: 'error', message, fields }),
  }
}

export const ORIGIN = 'http://127.0.0.1:8080'

export const get = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(`${ORIGIN}/v1${path}`, { headers })

/** A POST with a JSON body; a string is sent as it is, `undefined` sends none. */
export function post(path: string, body?: unknown, headers: Record<string, string> = {}): Request {
  if (body === undefined) return new Request(`${ORIGIN}/v1${path}`, { method: 'POST', headers })
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return new Request(`${ORIGIN}/v1${path}`, {
    method: 'POST',
    body: text,
    headers: { 'Content-Type': 'application/json', ...headers },
  })
}

/** A JSON answer, as loosely typed as a client sees it. */
export const bodyOf = async (response: Response) => (await response.json()) as Record<string, unknown>

/** Status and error code of a refusal. */
export async function refusalOf(response: Response): Promise<{ readonly status: number; readonly error: unknown }> {
  return { status: response.status, error: (await bodyOf(response)).error }
}
