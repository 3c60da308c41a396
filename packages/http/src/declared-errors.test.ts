import { perdureError } from '@perdure/ports'
import { ERRORS, type ErrorCode, type ErrorSpec, errorsOf, OPERATIONS, type Operation } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { type AppOptions, bodyOf, createTestApp } from './app.fixture.ts'
import type { HttpAppDeps, UseCases } from './http-app-deps.ts'
import { toRequest } from './operation-request.fixture.ts'

interface Scenario extends AppOptions {
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly query?: string
  /** Number of requests to send before the request under test. */
  readonly before?: number
}

const refuse = (code: ErrorCode) => () => Promise.reject(perdureError(code))
function refusedRecall(code: ErrorCode): HttpAppDeps['recall'] {
  const fromMemory = () => {
    throw perdureError(code)
  }
  return Object.assign(refuse(code), {
    fromCache: fromMemory,
    beforeCommit: fromMemory,
    afterRefusal: refuse(code),
    runOf: refuse(code),
  })
}
const authenticateAs = (...scopes: string[]) => ({ authenticate: async () => ({ subject: 'alice', scopes }) })
const key = (value: string) => ({ 'Idempotency-Key': value })

/** All use cases throw this error, so it does not matter which one the operation calls. */
function refusingUseCases(code: ErrorCode): UseCases {
  const reject = refuse(code)
  const raise = () => {
    throw perdureError(code)
  }
  return {
    ...{
      startRun: reject,
      abortRun: reject,
      forkRun: reject,
      abortAgent: reject,
      openRunStream: reject,
      resumeRun: reject,
      editMessage: reject,
      withdrawMessage: reject,
      openSessionStream: reject,
    },
    ...{ resolveApproval: reject, resumeWorkflow: reject, deleteThread: reject, emitEvent: reject },
    readApprovals: { get: reject, list: reject },
    readWorkflows: { list: raise, get: raise },
    replay: { page: reject, open: reject },
    keepCase: reject,
    readTriggers: { list: reject, get: reject, fires: reject, next: reject },
    manageTriggers: { remove: reject, enable: reject, disable: reject, prune: reject },
    ...{ createTrigger: reject, fireByHand: reject },
    openReplayStream: raise,
    callProtocol: reject,
    issueTicket: reject,
    threads: { state: reject, checkpoints: reject, newestRun: reject },
    readAgents: { list: raise, get: raise, state: raise },
    readSessions: { list: reject, get: reject, messages: reject, queue: reject, runs: reject },
    ...{ createSession: reject, updateSession: reject, deleteSession: reject, exportSession: reject },
    ...{ updateChat: reject, deleteChat: reject, forkChat: reject, readChats: { list: reject, get: reject } },
    providerSignIn: { isEnabled: true, begin: reject, finish: reject, endSessionUrl: reject },
    revokeSubject: reject,
    readSubjectUsage: reject,
    exportSubject: reject,
    eraseSubject: reject,
    readFiles: { list: reject, get: reject, open: reject },
    ...{ receiveFile: reject, storeFile: reject, deleteFile: reject },
    readSkills: { list: reject, get: reject },
    manageSkills: { install: reject, remove: reject },
    manageNodes: { list: reject, drain: reject },
    manageMcp: { list: reject, bind: reject, remove: reject },
    useMcp: { tools: reject, call: reject },
    manageWebhooks: {
      ...{ list: reject, get: reject, create: reject, update: reject, remove: reject },
      ...{ enable: reject, disable: reject, rotate: reject },
    },
    manageDeliveries: { list: reject, get: reject, redeliver: reject, test: reject },
    receiveHook: reject,
    manageHooks: {
      ...{ list: raise, get: raise, listDeliveries: reject, getDelivery: reject },
      ...{ replay: reject, test: reject },
    },
    listRuns: reject,
    readRuns: {
      ...{ get: reject, state: reject, outcome: reject, receipt: reject },
      ...{ list: reject, events: reject, logs: reject },
    },
    readHealth: { document: reject, live: raise, ready: reject },
    readSecretsHealth: raise,
    readMetrics: reject,
    tokens: { list: reject, get: reject, self: reject, mint: reject, rotate: reject, revoke: reject },
    listAudit: reject,
    exportAudit: reject,
    verifyAudit: reject,
    searchMemory: reject,
    readMemory: { fact: reject, listFacts: reject, listBlocks: reject, listConflicts: reject },
    writeFacts: { create: reject, update: reject, remove: reject },
    writeBlocks: { put: reject, remove: reject },
    resolveMemoryConflict: reject,
    readConsolidator: { get: reject, deadLetters: reject },
    queueConsolidation: { queue: reject, retry: reject },
    consoleSessions: { issueCode: reject, signIn: reject, read: reject, signOut: reject },
  }
}

const fromUseCase = (code: ErrorCode): Scenario => ({ deps: refusingUseCases(code) })
/** Signing in authenticates in its use case, because everybody may call it. */
const fromStorage = (code: ErrorCode, { scope }: Operation): Scenario =>
  scope === null ? fromUseCase(code) : { deps: { authenticate: refuse(code) } }
const fromToken = fromStorage

/** The key of an MCP call can be a member of its message, so its use case reads it. */
const readsKeyItself = ({ id }: Operation) => id.startsWith('mcp-server.')

/** A clock that fails on its second read, which happens inside the pipeline of every operation. */
function failingClock(): Pick<HttpAppDeps, 'clock'> {
  const { clock } = createTestApp()
  let reads = 0
  const monotonicMs = () => {
    reads += 1
    if (reads === 2) throw new Error('the clock is broken')
    return clock.monotonicMs()
  }
  return { clock: { ...clock, monotonicMs } }
}

/** How to provoke each error. */
const SCENARIOS: Partial<Record<ErrorCode, (operation: Operation) => Scenario>> = {
  'idempotency-key-invalid': (operation) =>
    readsKeyItself(operation) ? fromUseCase('idempotency-key-invalid') : { headers: key('has space') },
  'idempotency-key-required': (operation) =>
    readsKeyItself(operation) ? fromUseCase('idempotency-key-required') : { config: { requireKey: 'enforce' } },
  'invalid-input': () => fromUseCase('invalid-input'),
  'unsupported-parameter': () => fromUseCase('unsupported-parameter'),
  'version-unknown': () => fromUseCase('version-unknown'),
  'invalid-json': ({ takesFile, takesRaw }) =>
    takesFile === true || takesRaw === true ? fromUseCase('invalid-json') : { body: '{' },
  'validation-failed': () => ({ query: '&unknown=1' }),
  'auth-expired': (operation) => fromToken('auth-expired', operation),
  'auth-invalid': (operation) => fromToken('auth-invalid', operation),
  'auth-locked-out': (operation) => fromToken('auth-locked-out', operation),
  'auth-required': (operation) => fromToken('auth-required', operation),
  'auth-revoked': (operation) => fromToken('auth-revoked', operation),
  'cors-denied': () => ({ headers: { Origin: 'https://evil.example' } }),
  'console-read-only': () => ({
    config: { consoleReadOnly: true, csrfEnabled: false },
    deps: { authenticate: async () => ({ subject: 'alice', scopes: ['admin:*'], browserSession: 'tok_1' }) },
  }),
  'csrf-denied': () => ({ config: { authKind: 'none' }, headers: { 'Sec-Fetch-Site': 'cross-site' } }),
  'scope-escalation-denied': () => fromUseCase('scope-escalation-denied'),
  'token-not-found': () => fromUseCase('token-not-found'),
  'token-not-active': () => fromUseCase('token-not-active'),
  // Only what the body asks for needs a scope there.
  'scope-denied': ({ scope }) => (scope === 'principal' ? fromUseCase('scope-denied') : { deps: authenticateAs() }),
  'agent-not-found': () => fromUseCase('agent-not-found'),
  'run-not-found': () => fromUseCase('run-not-found'),
  'method-not-allowed': () => fromUseCase('method-not-allowed'),
  'mcp-headers-denied': () => fromUseCase('mcp-headers-denied'),
  'mcp-host-denied': () => fromUseCase('mcp-host-denied'),
  'file-in-use': () => fromUseCase('file-in-use'),
  'file-not-found': () => fromUseCase('file-not-found'),
  'file-quota-exceeded': () => fromUseCase('file-quota-exceeded'),
  'range-not-satisfiable': () => fromUseCase('range-not-satisfiable'),
  'mcp-server-exists': () => fromUseCase('mcp-server-exists'),
  'mcp-server-not-found': () => fromUseCase('mcp-server-not-found'),
  'mcp-server-unavailable': () => fromUseCase('mcp-server-unavailable'),
  'mcp-tool-not-found': () => fromUseCase('mcp-tool-not-found'),
  'skill-not-found': () => fromUseCase('skill-not-found'),
  'skill-exists': () => fromUseCase('skill-exists'),
  'session-exists': () => fromUseCase('session-exists'),
  'session-not-found': () => fromUseCase('session-not-found'),
  'resume-without-suspension': () => fromUseCase('resume-without-suspension'),
  'webhook-url-denied': () => fromUseCase('webhook-url-denied'),
  'node-not-found': () => fromUseCase('node-not-found'),
  'delivery-not-found': () => fromUseCase('delivery-not-found'),
  'webhook-not-found': () => fromUseCase('webhook-not-found'),
  'hook-delivery-not-found': () => fromUseCase('hook-delivery-not-found'),
  'hook-not-found': () => fromUseCase('hook-not-found'),
  'hook-not-testable': () => fromUseCase('hook-not-testable'),
  'hook-signature-invalid': () => fromUseCase('hook-signature-invalid'),
  'hook-unavailable': () => fromUseCase('hook-unavailable'),
  'delivery-in-progress': () => fromUseCase('delivery-in-progress'),
  'webhook-configured': () => fromUseCase('webhook-configured'),
  'webhook-disabled': () => fromUseCase('webhook-disabled'),
  'webhook-exists': () => fromUseCase('webhook-exists'),
  'webhook-limit': () => fromUseCase('webhook-limit'),
  'webhook-pepper-missing': () => fromUseCase('webhook-pepper-missing'),
  'trigger-exists': () => fromUseCase('trigger-exists'),
  'trigger-not-found': () => fromUseCase('trigger-not-found'),
  'thread-not-found': () => fromUseCase('thread-not-found'),
  'workflow-not-found': () => fromUseCase('workflow-not-found'),
  'run-not-suspended': () => fromUseCase('run-not-suspended'),
  'approval-resolved': () => fromUseCase('approval-resolved'),
  'approval-not-found': () => fromUseCase('approval-not-found'),
  'approval-not-editable': () => fromUseCase('approval-not-editable'),
  'approval-not-assigned': () => fromUseCase('approval-not-assigned'),
  'tool-call-not-found': () => fromUseCase('tool-call-not-found'),
  'tool-call-ended': () => fromUseCase('tool-call-ended'),
  'agent-busy': () => fromUseCase('agent-busy'),
  'idempotency-conflict': () => ({ headers: key('k'), deps: { recall: refusedRecall('idempotency-conflict') } }),
  'idempotency-in-flight': () => ({ headers: key('k'), deps: { recall: refusedRecall('idempotency-in-flight') } }),
  'ticket-limit-exceeded': () => fromUseCase('ticket-limit-exceeded'),
  'run-active': () => fromUseCase('run-active'),
  'run-not-active': () => fromUseCase('run-not-active'),
  'run-not-queued': () => fromUseCase('run-not-queued'),
  'dead-letter-not-found': () => fromUseCase('dead-letter-not-found'),
  'memory-block-changed': () => fromUseCase('memory-block-changed'),
  'memory-block-not-found': () => fromUseCase('memory-block-not-found'),
  'memory-conflict-not-found': () => fromUseCase('memory-conflict-not-found'),
  'memory-fact-not-found': () => fromUseCase('memory-fact-not-found'),
  'memory-conflict-resolved': () => fromUseCase('memory-conflict-resolved'),
  'body-too-large': ({ takesRaw }) =>
    takesRaw === true ? fromUseCase('body-too-large') : { body: `{"input":"${'x'.repeat(2_000)}"}` },
  'unsupported-media-type': ({ takesRaw }) =>
    takesRaw === true
      ? fromUseCase('unsupported-media-type')
      : { body: '{}', headers: { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' } },
  'host-denied': () => ({ config: { authKind: 'none' }, headers: { Host: 'evil.example' } }),
  'rate-limit-exceeded': () => ({ config: { perIpRequests: 1, pollsPerMinute: 1 }, before: 1 }),
  'internal-error': () => ({ deps: failingClock() }),
  'auth-keys-unavailable': () => ({ deps: { authenticate: refuse('auth-keys-unavailable') } }),
  'not-implemented': () => ({}),
  SQLITE_BUSY: (operation) => fromStorage('SQLITE_BUSY', operation),
  overloaded: ({ id }) =>
    id.endsWith('.replay') ||
    /^(?:ai-sdk|ag-ui|openai|mcp-server)\./.test(id) ||
    id === 'sessions.events' ||
    id === 'audit.verify'
      ? fromUseCase('overloaded')
      : { deps: { openRunStream: refuse('overloaded') }, headers: { Accept: 'text/event-stream' } },
  'audit-unavailable': () => ({ deps: { admit: refuse('audit-unavailable') } }),
  'queue-full': () => fromUseCase('queue-full'),
  'quota-exceeded': () => fromUseCase('quota-exceeded'),
  'server-draining': () => fromUseCase('server-draining'),
  'storage-failed': (operation) => fromStorage('storage-failed', operation),
  'storage-full': () => fromUseCase('storage-full'),
  'storage-unavailable': (operation) => fromStorage('storage-unavailable', operation),
}

/** Errors of a WebSocket upgrade are tested in packages/server-app/src/listener/upgrades.test.ts. */
const isRefusedAtUpgrade = ({ responses, errors }: Operation, code: ErrorCode) =>
  responses[101] !== undefined && errors.includes(code) && code !== 'validation-failed'

const CASES = OPERATIONS.flatMap((operation) =>
  errorsOf(operation)
    .filter((code) => !isRefusedAtUpgrade(operation, code))
    .map((code) => [operation.id, code, operation] as const),
)

describe('an operation', () => {
  it.each(CASES)('answers with each error that it declares: %s, %s', async (id, code, operation) => {
    const scenario = SCENARIOS[code]?.(operation)
    if (scenario === undefined) throw new Error(`no scenario provokes ${code}`)
    const { app, notes, lines } = createTestApp(scenario)
    for (let sent = 0; sent < (scenario.before ?? 0); sent++) await app.fetch(toRequest(operation, scenario))

    const response = await app.fetch(toRequest(operation, scenario))

    expect(response.status).toBe(ERRORS[code].status)
    const { openai = code }: ErrorSpec = ERRORS[code]
    expect(await bodyOf(response)).toMatchObject({
      error: id.startsWith('openai.') ? openai : code,
      message: expect.stringMatching(/./),
      requestId: response.headers.get('x-request-id'),
    })
    expect(notes.at(-1)).toMatchObject({ operationId: id, status: ERRORS[code].status, error: code })
    expect(lines.filter(({ message }) => message === 'undeclared error')).toEqual([])
  })
})
