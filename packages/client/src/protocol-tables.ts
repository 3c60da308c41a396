// Derived from the tables of @perdure/protocol by `pnpm derive`; not edited by hand.
import type { CloseName } from '@perdure/protocol'
import type { RouteTable } from './route.ts'

export const SUBPROTOCOL = 'svc.protocol.v1'
export const TICKET_PREFIX = 'ticket.'
export const REPLAY_GAP = 'replay-gap'

/** Types of the events that end a run: nothing follows them on the subject of the run. */
export const RUN_ENDING_EVENTS: readonly string[] = ['run.completed', 'run.failed', 'run.aborted']

/** Why the server closes a WebSocket, by code. */
export const CLOSE_NAMES: Readonly<Record<number, CloseName>> = {
  4001: 'auth.required',
  4002: 'auth.invalid',
  4003: 'auth.revoked',
  4004: 'auth.scope_denied',
  4005: 'rate.limited',
  4006: 'flow.throttled',
  4007: 'server.shutdown',
  4008: 'protocol.violation',
}

/** Errors of the WebSocket methods, by code. */
export const RPC_NAMES: Readonly<Record<number, string>> = {
  '-32700': 'parse-error',
  '-32600': 'invalid-request',
  '-32601': 'method-not-found',
  '-32602': 'invalid-params',
  '-32603': 'internal-error',
  '-32001': 'auth-required',
  '-32002': 'auth-invalid',
  '-32003': 'scope-denied',
  '-32004': 'rate-limited',
  '-32005': 'protocol-violation',
  '-32010': 'run-not-found',
  '-32011': 'subscription-not-found',
}

/** The subjects that can be followed over Server-Sent Events, with the path of their stream. */
export const EVENT_STREAMS: Readonly<Record<string, string>> = {
  'agent:{agentId}/runs/{runId}/events': '/runs/:runId/events',
  'workflow:{workflowId}/runs/{runId}/events': '/runs/:runId/events',
  'session:{sessionId}/events': '/sessions/:sessionId/events',
  'session:{sessionId}/runs/{runId}/events': '/runs/:runId/events',
}

// biome-ignore format: a table is read by its rows
export const ROUTES = {
  agents: {
    list: { method: 'GET', path: '/agents', input: 'query', isList: true },
    get: { method: 'GET', path: '/agents/:agentId' },
    run: { method: 'POST', path: '/agents/:agentId/run', input: 'body', isKeyed: true },
    start: { method: 'POST', path: '/agents/:agentId/stream', input: 'body', isKeyed: true },
    state: { method: 'GET', path: '/agents/:agentId/state' },
    abort: { method: 'POST', path: '/agents/:agentId/abort', input: 'body', isKeyed: true },
  },
  runs: {
    list: { method: 'GET', path: '/runs', input: 'query', isList: true },
    get: { method: 'GET', path: '/runs/:runId' },
    state: { method: 'GET', path: '/runs/:runId/state' },
    events: { method: 'GET', path: '/runs/:runId/events', input: 'query', isList: true },
    logs: { method: 'GET', path: '/runs/:runId/logs', input: 'query', isList: true },
    abort: { method: 'POST', path: '/runs/:runId/abort', input: 'body', isKeyed: true },
    receipt: { method: 'GET', path: '/runs/:runId/receipt' },
    edit: { method: 'PATCH', path: '/runs/:runId', input: 'body', isKeyed: true },
    withdraw: { method: 'POST', path: '/runs/:runId/withdraw', isKeyed: true },
    fork: { method: 'POST', path: '/runs/:runId/fork', input: 'body', isKeyed: true },
    retry: { method: 'POST', path: '/runs/:runId/retry', input: 'body', isKeyed: true },
    rerun: { method: 'POST', path: '/runs/:runId/rerun', input: 'body', isKeyed: true },
    resume: { method: 'POST', path: '/runs/:runId/resume', input: 'body', isKeyed: true },
    replay: { method: 'POST', path: '/runs/:runId/replay', input: 'body', isKeyed: true },
    case: { method: 'POST', path: '/runs/:runId/case', input: 'body', isKeyed: true },
  },
  approvals: {
    list: { method: 'GET', path: '/approvals', input: 'query', isList: true },
    get: { method: 'GET', path: '/approvals/:approvalId' },
    resolve: { method: 'POST', path: '/approvals/:approvalId/resolve', input: 'body', isKeyed: true },
  },
  workflows: {
    list: { method: 'GET', path: '/workflows', input: 'query', isList: true },
    get: { method: 'GET', path: '/workflows/:workflowId' },
    execute: { method: 'POST', path: '/workflows/:workflowId/execute', input: 'body', isKeyed: true },
    resume: { method: 'POST', path: '/workflows/:workflowId/resume', input: 'body', isKeyed: true },
    state: { method: 'GET', path: '/workflows/:workflowId/state', input: 'query' },
    checkpoints: { method: 'GET', path: '/workflows/:workflowId/checkpoints', input: 'query', isList: true },
    fork: { method: 'POST', path: '/workflows/:workflowId/fork', input: 'body', isKeyed: true },
    deleteThread: { method: 'DELETE', path: '/workflows/:workflowId/threads/:threadId', isKeyed: true },
  },
  sessions: {
    list: { method: 'GET', path: '/sessions', input: 'query', isList: true },
    create: { method: 'POST', path: '/sessions', input: 'body', isKeyed: true },
    get: { method: 'GET', path: '/sessions/:sessionId' },
    update: { method: 'PATCH', path: '/sessions/:sessionId', input: 'body', isKeyed: true },
    delete: { method: 'DELETE', path: '/sessions/:sessionId', isKeyed: true },
    messages: { method: 'GET', path: '/sessions/:sessionId/messages', input: 'query', isList: true },
    queue: { method: 'GET', path: '/sessions/:sessionId/queue', input: 'query', isList: true },
    runs: { method: 'GET', path: '/sessions/:sessionId/runs', input: 'query', isList: true },
    export: { method: 'POST', path: '/sessions/:sessionId/export', isKeyed: true, isRaw: true },
    replay: { method: 'POST', path: '/sessions/:sessionId/replay', input: 'body', isKeyed: true },
  },
  chats: {
    list: { method: 'GET', path: '/agents/:agentId/chats', input: 'query', isList: true },
    get: { method: 'GET', path: '/agents/:agentId/chats/:chatId' },
    update: { method: 'PATCH', path: '/agents/:agentId/chats/:chatId', input: 'body', isKeyed: true },
    delete: { method: 'DELETE', path: '/agents/:agentId/chats/:chatId', isKeyed: true },
    fork: { method: 'POST', path: '/agents/:agentId/chats/:chatId/fork', input: 'body', isKeyed: true },
  },
  files: {
    list: { method: 'GET', path: '/files', input: 'query', isList: true },
    upload: { method: 'POST', path: '/files', input: 'query', takesFile: true, isKeyed: true },
    get: { method: 'GET', path: '/files/:fileId', isRaw: true },
    metadata: { method: 'GET', path: '/files/:fileId/metadata' },
    delete: { method: 'DELETE', path: '/files/:fileId', isKeyed: true },
  },
  realtime: {
    createWsTicket: { method: 'POST', path: '/session/ws-ticket', isKeyed: true },
  },
  memory: {
    search: { method: 'POST', path: '/memory/search', input: 'body' },
    listFacts: { method: 'GET', path: '/memory/facts', input: 'query', isList: true },
    createFact: { method: 'POST', path: '/memory/facts', input: 'body', isKeyed: true },
    getFact: { method: 'GET', path: '/memory/facts/:factId' },
    updateFact: { method: 'PATCH', path: '/memory/facts/:factId', input: 'body', isKeyed: true },
    deleteFact: { method: 'DELETE', path: '/memory/facts/:factId', isKeyed: true },
    listBlocks: { method: 'GET', path: '/memory/blocks', input: 'query', isList: true },
    putBlock: { method: 'PUT', path: '/memory/blocks/:label', input: 'body', isKeyed: true },
    deleteBlock: { method: 'DELETE', path: '/memory/blocks/:label', input: 'query', isKeyed: true },
    listConflicts: { method: 'GET', path: '/memory/conflicts', input: 'query', isList: true },
    resolveConflict: { method: 'POST', path: '/memory/conflicts/:conflictId/resolve', input: 'body', isKeyed: true },
  },
  consolidator: {
    get: { method: 'GET', path: '/consolidator' },
    run: { method: 'POST', path: '/consolidator/run', input: 'body', isKeyed: true },
    deadLetters: { method: 'GET', path: '/consolidator/dead-letters', input: 'query', isList: true },
    retry: { method: 'POST', path: '/consolidator/dead-letters/:deadLetterId/retry', isKeyed: true },
  },
  skills: {
    list: { method: 'GET', path: '/skills', input: 'query', isList: true },
    get: { method: 'GET', path: '/skills/:skillName' },
    install: { method: 'POST', path: '/skills/install', input: 'body', isKeyed: true },
    remove: { method: 'DELETE', path: '/skills/:skillName', isKeyed: true },
  },
  mcp: {
    list: { method: 'GET', path: '/mcp/servers', input: 'query', isList: true },
    bind: { method: 'POST', path: '/mcp/servers', input: 'body', isKeyed: true },
    remove: { method: 'DELETE', path: '/mcp/servers/:serverId', isKeyed: true },
    tools: { method: 'GET', path: '/mcp/servers/:serverId/tools', input: 'query', isList: true },
    call: { method: 'POST', path: '/mcp/servers/:serverId/tools/:toolName/call', input: 'body', isKeyed: true },
  },
  tokens: {
    list: { method: 'GET', path: '/tokens', input: 'query', isList: true },
    self: { method: 'GET', path: '/tokens/self' },
    get: { method: 'GET', path: '/tokens/:tokenId' },
    create: { method: 'POST', path: '/tokens', input: 'body', isKeyed: true },
    rotate: { method: 'POST', path: '/tokens/:tokenId/rotate', input: 'body', isKeyed: true },
    revoke: { method: 'DELETE', path: '/tokens/:tokenId', isKeyed: true },
  },
  subjects: {
    usage: { method: 'GET', path: '/subjects/:subject/usage' },
    export: { method: 'POST', path: '/subjects/:subject/export', isKeyed: true, isRaw: true },
    delete: { method: 'DELETE', path: '/subjects/:subject', isKeyed: true },
    revoke: { method: 'POST', path: '/subjects/:subject/revoke', input: 'body', isKeyed: true },
  },
  audit: {
    list: { method: 'GET', path: '/audit', input: 'query', isList: true },
    export: { method: 'GET', path: '/audit/export', input: 'query', isRaw: true },
    verify: { method: 'POST', path: '/audit/verify', input: 'body' },
  },
  triggers: {
    list: { method: 'GET', path: '/triggers', input: 'query', isList: true },
    create: { method: 'POST', path: '/triggers', input: 'body', isKeyed: true },
    prune: { method: 'POST', path: '/triggers/prune', isKeyed: true },
    get: { method: 'GET', path: '/triggers/:triggerId' },
    delete: { method: 'DELETE', path: '/triggers/:triggerId', isKeyed: true },
    fire: { method: 'POST', path: '/triggers/:triggerId/fire', isKeyed: true },
    disable: { method: 'POST', path: '/triggers/:triggerId/disable', isKeyed: true },
    enable: { method: 'POST', path: '/triggers/:triggerId/enable', isKeyed: true },
    next: { method: 'GET', path: '/triggers/:triggerId/next', input: 'query' },
    fires: { method: 'GET', path: '/triggers/:triggerId/fires', input: 'query', isList: true },
  },
  webhooks: {
    list: { method: 'GET', path: '/webhooks', input: 'query', isList: true },
    create: { method: 'POST', path: '/webhooks', input: 'body', isKeyed: true },
    get: { method: 'GET', path: '/webhooks/:webhookId' },
    update: { method: 'PATCH', path: '/webhooks/:webhookId', input: 'body', isKeyed: true },
    delete: { method: 'DELETE', path: '/webhooks/:webhookId', isKeyed: true },
    enable: { method: 'POST', path: '/webhooks/:webhookId/enable', isKeyed: true },
    disable: { method: 'POST', path: '/webhooks/:webhookId/disable', isKeyed: true },
    rotate: { method: 'POST', path: '/webhooks/:webhookId/rotate', input: 'body', isKeyed: true },
    test: { method: 'POST', path: '/webhooks/:webhookId/test', isKeyed: true },
    deliveries: { method: 'GET', path: '/webhooks/:webhookId/deliveries', input: 'query', isList: true },
    delivery: { method: 'GET', path: '/webhooks/:webhookId/deliveries/:deliveryId' },
    redeliver: { method: 'POST', path: '/webhooks/:webhookId/deliveries/:deliveryId/redeliver', isKeyed: true },
  },
  hooks: {
    list: { method: 'GET', path: '/hooks', input: 'query', isList: true },
    get: { method: 'GET', path: '/hooks/:hookId' },
    test: { method: 'POST', path: '/hooks/:hookId/test', input: 'body', isKeyed: true },
    deliveries: { method: 'GET', path: '/hooks/:hookId/deliveries', input: 'query', isList: true },
    delivery: { method: 'GET', path: '/hooks/:hookId/deliveries/:hookDeliveryId' },
    replay: { method: 'POST', path: '/hooks/:hookId/deliveries/:hookDeliveryId/replay', isKeyed: true },
  },
  events: {
    emit: { method: 'POST', path: '/events/:name', input: 'body', isKeyed: true },
  },
  health: {
    get: { method: 'GET', path: '/health', alsoAnswers: [503] },
    live: { method: 'GET', path: '/health/live' },
    ready: { method: 'GET', path: '/health/ready', alsoAnswers: [503] },
    secrets: { method: 'GET', path: '/health/secrets' },
  },
  nodes: {
    list: { method: 'GET', path: '/nodes', input: 'query', isList: true },
    drain: { method: 'POST', path: '/nodes/:nodeId/drain', isKeyed: true },
  },
  metrics: {
    get: { method: 'GET', path: '/metrics', isRaw: true },
  },
  docs: {
    openapi: { method: 'GET', path: '/openapi.json' },
    asyncapi: { method: 'GET', path: '/asyncapi.json' },
    page: { method: 'GET', path: '/docs', isRaw: true },
  },
  console: {
    createCode: { method: 'POST', path: '/console/codes', isKeyed: true },
    signIn: { method: 'POST', path: '/console/session', input: 'body' },
    session: { method: 'GET', path: '/console/session' },
    signOut: { method: 'DELETE', path: '/console/session' },
    system: { method: 'GET', path: '/console/system' },
    metrics: { method: 'GET', path: '/console/metrics' },
  },
} as const satisfies RouteTable
