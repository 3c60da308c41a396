import {
  type AgentRegistration,
  createAgentRegistry,
  createAudit,
  createAuth,
  createChats,
  createConsoleAccess,
  createConsolidator,
  createEmitter,
  createEngine,
  createEventHub,
  createFiles,
  createHooks,
  createKeyRequest,
  createLateBound,
  createListRuns,
  createManageNodes,
  createManageTokens,
  createMcp,
  createMemory,
  createPhase,
  createReadHealth,
  createRealtime,
  createRecall,
  createRenderEnvelope,
  createSessions,
  createSkills,
  createSubjects,
  createTriggers,
  createWebhooks,
  createWorkflowRegistry,
  type FireEventTriggers,
  type JwtIssuer,
  NO_ATTEMPT_LIMIT,
  type RunContext,
  type RunServices,
  targetsOf,
  type WorkflowRegistration,
} from '@perdure/core'
import {
  createInMemoryBlobStore,
  createInMemorySkillStore,
  createInMemoryStorage,
  createInMemoryTicketStore,
} from '@perdure/in-memory'
import { createProtocols } from '@perdure/interop'
import { type CronSchedule, NO_AUDIT_KEY, noMeter, perdureError, type Storage, type Timers } from '@perdure/ports'
import { bodyOf, createManualClock, createSequenceIds, type ManualClock } from '@perdure/testkit'
import { createHttpApp } from './app.ts'
import { TEST_CONSOLE, TEST_DOCS_PAGE } from './console/console-data.fixture.ts'
import { eventStream, fixedStream } from './fixed-stream.fixture.ts'
import { resolveSecret, testHooks } from './hooks.fixture.ts'
import type { AnswerNote, HttpAppDeps, HttpConfig } from './http-app-deps.ts'
import { NO_ROLES, PROTOCOL_LIMITS, TEST_CONFIG } from './http-config.fixture.ts'
import { receivedElsewhere } from './received-elsewhere.fixture.ts'
import { type LogLine, recordingLogger } from './recorded-log.fixture.ts'
import { toResponse } from './response/text-answer.ts'
import { mcpClient, noWebhookSender } from './test-clients.fixture.ts'
import { testDigest, testSealer } from './test-crypto.fixture.ts'

export { bodyOf } from '@perdure/testkit'

export interface AppOptions {
  readonly config?: Partial<HttpConfig>
  readonly deps?: Partial<HttpAppDeps>
  readonly auth?: 'none' | 'token' // default: 'none'
  readonly jwtIssuers?: readonly JwtIssuer[]
  /** Shares the storage and clock of another app. */
  readonly on?: { readonly storage: Storage; readonly clock: ManualClock }
  readonly peppers?: readonly Uint8Array[]
  readonly blockValid?: boolean
  /** Besides `echo` and `hold`. */
  readonly agents?: readonly AgentRegistration[]
  /** Besides `steps`. */
  readonly workflows?: readonly WorkflowRegistration[]
}

/** The complete app with real use cases on in-memory storage; only opening streams is a stub. */
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
  for (const registration of options.agents ?? []) agents.register(registration)
  const workflows = createWorkflowRegistry()
  const steps = { id: 'steps', execute: async (_: unknown, { step }: RunContext) => step('one', () => 1) }
  workflows.register({ id: 'steps', description: 'Makes one step.', workflow: steps })
  for (const registration of options.workflows ?? []) workflows.register(registration)
  const phase = createPhase()
  phase.enter('ready')

  const audit = createAudit({
    ...{ main: storage, keys: NO_AUDIT_KEY, clock, timers: systemTimers, ids, logger, digest: testDigest },
    events: 'privileged',
  })
  const render = createRenderEnvelope({ meter: noMeter, policy: 'redact' })
  const recall = createRecall({ idempotency: storage.idempotency, clock, sealer: testSealer })
  const fireEventTriggers = createLateBound<FireEventTriggers>('fireEventTriggers')
  const yieldTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const engine = createEngine({
    ...{ yieldTurn, recall, fireEventTriggers: fireEventTriggers.call },
    services: () => ({}) as RunServices,
    ...storage,
    ...{ unitOfWork: audit.unitOfWork },
    ...{ clock, timers: clock, ids, meter: noMeter, agents, workflows, phase, logger, basePath: '/v1' },
    digest: testDigest,
    render,
    limits: {
      ...{ concurrency: 64, maxQueued: 100, idempotencyTtlMs: 86_400_000 },
      ...{ maxResultBytes: 1_000_000, maxEventBytes: 1_000, abortGraceMs: 5_000 },
    },
  })
  const shared = {
    ...storage,
    ...{ unitOfWork: audit.unitOfWork, clock, timers: clock, ids, digest: testDigest, logger, peppers },
    ...{ basePath: '/v1', idempotencyTtlMs: 86_400_000 },
  }
  const openStream = async (request: unknown) => {
    streams.push(request)
    return eventStream('id: e1.0\ndata:\n\n')
  }
  const ticketStore = createInMemoryTicketStore()
  const realtime = createRealtime({
    ticketStore,
    areTicketsShared: false,
    ...{ ...storage, clock, ids, phase, digest: testDigest, hub: createEventHub(), render, attempts: NO_ATTEMPT_LIMIT },
    ...{ idempotencyTtlMs: 86_400_000, ticketTtlMs: 30_000, maxTicketsPerToken: 2, sealer: testSealer },
  })
  const named = { ...shared, yieldTurn, recall, render, phase, meter: noMeter }
  const files = createFiles({
    ...{ ...named, blobs: createInMemoryBlobStore({ clock, digest: testDigest }) },
    remoteFiles: { load: async () => ({ error: 'not loaded' }) },
    limits: { maxBytes: config?.maxFileBytes ?? TEST_CONFIG.maxFileBytes, maxBytesPerOwner: 500_000 },
  }).useCases
  const sessions = createSessions({ ...named, abortRun: engine.abortRun, readFiles: files.readFiles })
  const services = {
    ...sessions,
    ...createChats({ ...named, targets: targetsOf(agents, workflows), deleteSession: sessions.deleteSession }),
    ...files,
    ...createSkills({ ...named, ...testSkills() }),
    ...createMcp({ ...named, configured: [], allowed: { hosts: ['mcp.example'], headersRefs: ['env:OK'] }, mcpClient }),
  }
  const webhooks = createWebhooks({
    deliveriesDue: createEmitter(),
    ...named,
    ...{ timeoutMs: 1_000, retentionDays: 30, maxPerSubject: 20, isStorageShared: false, undeclaredMs: 0 },
    ...{ isSealerDurable: true, sealer: testSealer },
    ...{ version: '0.0.0', resolveSecret: async () => undefined, sender: noWebhookSender },
  })
  const gate = createAuth({
    ...{ ...shared, kind: auth, blockValid, sealer: testSealer, jwtIssuers: options.jwtIssuers },
    isRegistered: (kind, id) => targetsOf(agents, workflows).find(kind, id) !== undefined,
  })
  const memory = createMemory({
    ...{ ...shared, hub: createEventHub(), embedder: undefined },
    limits: { ...{ maxFactBytes: 500, blockLimit: 50, similarityPercent: 70 }, vectorCandidates: 9, embedTimeoutMs: 9 },
  })
  const consolidator = createConsolidator({
    ...{ ...shared, phase, decisions: memory.decisions, phaseOverrides: {} },
    limits: {
      ...{ enabled: true, idleAfterMs: 1_000, leaseMs: 1_000, halfLifeDays: 30 },
      ...{ tokensPerDay: 1_000, usdCentsPerDay: undefined },
    },
  })
  const triggers = createTriggers({
    ...{ ...storage, hooks: testHooks },
    ...{ clock, timers: clock, ids, logger, meter: noMeter, digest: testDigest, cronSchedule: neverCron },
    ...{ targets: targetsOf(agents, workflows), startRun: engine.startRun, undeclaredMs: 0 },
    ...{ basePath: '/v1', idempotencyTtlMs: 86_400_000 },
  })
  fireEventTriggers.bind(triggers.fireEventTriggers)
  const hooks = createHooks({
    ...named,
    ...triggers,
    ...{ hooks: testHooks, planEvent: engine.planEvent, resolveSecret },
    targets: targetsOf(agents, workflows),
  })

  const keyRequest = createKeyRequest({ ...storage, clock, digest: testDigest })
  const registered = () => [...agents.list(), ...workflows.list()]
  const callProtocol = createProtocols({
    ...{ ...shared, render, targets: targetsOf(agents, workflows), keyRequest, recall },
    ...{ ...PROTOCOL_LIMITS, historyRuns: 20, replayEndedMs: 60_000 },
    ...{
      ...{ startRun: engine.startRun, abortRun: engine.abortRun, resolveApproval: engine.resolveApproval },
      ...{ resumeRun: engine.resumeRun, editMessage: engine.editMessage, withdrawMessage: engine.withdrawMessage },
      ...{ createSession: sessions.createSession, updateSession: sessions.updateSession },
      ...{ deleteSession: sessions.deleteSession, storeDataUrl: services.storeDataUrl },
    },
    ...{
      ...{ version: '0.1.0', requireKey: 'warn' },
      mcpCallTimeoutMs: 50_000,
      registered,
    },
    inputSchemaOf: () => undefined,
    reserveStream: () => ({ release: () => undefined }),
    openProjectedStream: openStream,
    openJoinedStream: openStream,
    readProjectedStream: async (request) => toResponse(await openStream(request)).text(),
  })
  const app = createHttpApp({
    config: { ...TEST_CONFIG, ...config },
    ...{ version: '0.1.0', clock, ids, logger, meter: noMeter },
    ...{ digest: testDigest, yieldTurn: async () => undefined, keyRequest, recall },
    listRuns: createListRuns({ ...shared, readRuns: engine.readRuns, registered }),
    callProtocol,
    ...createSubjects({ ...shared, ...services, render, abortRun: engine.abortRun, maxFileBytes: 1_000 }),
    ...{ ...engine, ...services, ...gate, ...triggers, ...webhooks, ...hooks, ...memory, ...consolidator },
    openReplayStream: (recording, { speed }) => fixedStream(JSON.stringify({ recording, speed })),
    readHealth: createReadHealth({
      ...{ storage, phase, clock, version: '0.1.0', walWarnThresholdBytes: 1_000, secretsStore: 'env' },
      readTriggerHealth: triggers.daemon.health,
      replayBuffer: () => ({ events: 0, subjects: 0, bytes: 0 }),
      ...{ checkEmbedder: memory.checkEmbedder, checkConsolidator: consolidator.checkConsolidator },
    }),
    consoleData: TEST_CONSOLE,
    readDocsPage: async () => TEST_DOCS_PAGE,
    readMetrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'svc_up 1\n' }),
    manageNodes: createManageNodes(shared),
    readSecretsHealth: () => ({ active: 'env', fallbackChain: ['env'], references: [] }),
    async openSessionStream(request) {
      const session = await storage.sessions.find(request.sessionId, request.visibility)
      if (session === undefined) throw perdureError('session-not-found')
      return openStream(request)
    },
    openRunStream: openStream,
    issueTicket: realtime.issueTicket,
    ...createConsoleAccess({
      ...{ ...shared, sealer: testSealer, ticketStore, areTicketsShared: false, maxTicketsPerToken: 2 },
      ...{ authenticate: gate.authenticate, attempts: gate.attempts, rules: NO_ROLES },
    }),
    ...audit,
    async onAnswer(note) {
      notes.push(note)
      await audit.onAnswer(note)
    },
    ...deps,
  })

  return {
    app: receivedElsewhere(app),
    storage,
    clock,
    phase,
    lines,
    notes,
    streams,
    manage: createManageTokens(shared),
  }
}

/** Pauses between pages end on their own. */
const systemTimers: Timers = {
  after(delayMs, fn) {
    const handle = setTimeout(fn, delayMs)
    return () => clearTimeout(handle)
  },
}

const neverCron: CronSchedule = { ready: async () => undefined, problemOf: () => undefined, next: () => undefined }

function testSkills() {
  const pdf = { name: 'pdf', description: 'Fills forms.', instructions: 'Open the form.' }
  const sources = { 'team/doc': { ...pdf, name: 'doc' } }
  return { skills: createInMemorySkillStore({ skills: [pdf], sources }), registered: { find: async () => undefined } }
}

export const PEPPER: Uint8Array = new Uint8Array(32).fill(7)

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
export const ORIGIN = 'http://127.0.0.1:8080'

export const get = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(`${ORIGIN}/v1${path}`, { headers })

/** A POST with a JSON body; a string is sent unchanged, `undefined` sends no body. */
export function post(path: string, body?: unknown, headers: Record<string, string> = {}): Request {
  if (body === undefined) return new Request(`${ORIGIN}/v1${path}`, { method: 'POST', headers })
  return new Request(`${ORIGIN}/v1${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  })
}

/** Status and error code of an error response. */
export async function refusalOf(response: Response): Promise<{ readonly status: number; readonly error: unknown }> {
  return { status: response.status, error: (await bodyOf(response)).error }
}
