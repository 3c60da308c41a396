import type { OPERATION_TABLES, PROTOCOLS, RpcMethod } from '@perdure/protocol'
import type { Path, Paths, Waiting } from './fact.fixture.ts'
import { PROTOCOL_PATHS } from './fact-protocols.fixture.ts'

type Tables = typeof OPERATION_TABLES
type Protocols = typeof PROTOCOLS
type IdIn<Table> = {
  [Name in keyof Table]: Table[Name] extends { readonly id: infer Id extends string } ? Id : never
}[keyof Table]
type OperationId =
  | { [Group in keyof Tables]: IdIn<Tables[Group]> }[keyof Tables]
  | { [Name in keyof Protocols]: IdIn<Protocols[Name]['operations']> }[keyof Protocols]

const START = 'agents:invoke'
const DECIDE = 'approvals:resolve'
const REPAIR = 'runs:repair'

const fork = (body: object) => (waiting: Waiting) => [`/runs/${waiting.runId}/fork`, body] as const
/** Behind the first call. What a fork copies was a fact in its source, and cannot be replaced. */
const COPY: Path = { needs: [START], send: fork({ from: { seq: 2 } }), repeats: true }
const KEPT: Path = { ...COPY, needs: [START, REPAIR, DECIDE] }
const RETRY = (needs: readonly string[]): Path => ({
  needs,
  send: ({ runId }) => [`/runs/${runId}/retry`, {}],
  repeats: true,
})

const NOTHING: Paths = {}

/**
 * Which facts each operation can bring about, and who may. A new operation does not compile until it is listed. The console
 * and the command line act through these operations.
 */
export const PATHS: Readonly<Record<OperationId, Paths>> = {
  'approvals.resolve': {
    decision: { needs: [DECIDE], send: ({ approvalId }) => [`/approvals/${approvalId}/resolve`, { approved: true }] },
  },
  'events.emit': { event: { needs: ['events:emit'], send: () => ['/events/paid', { payload: 'paid' }] } },
  'workflows.resume': {
    event: {
      needs: ['workflows:resume'],
      start: (id) => [`/workflows/${id}/execute`, {}],
      send: ({ threadId }) => ['/workflows/event/resume', { threadId, name: 'paid', payload: 'paid' }],
    },
    resumption: {
      needs: ['workflows:resume'],
      start: (id) => [`/workflows/${id}/execute`, {}],
      send: ({ threadId }) => ['/workflows/resumption/resume', { threadId, payload: 'paid' }],
    },
  },
  'runs.resume': {
    decision: {
      needs: [START, DECIDE],
      send: ({ runId, approvalId }) => [`/runs/${runId}/resume`, { approvals: [{ id: approvalId, approved: true }] }],
    },
    tool: {
      needs: [START],
      send: ({ runId }) => [`/runs/${runId}/resume`, { toolResults: [{ toolCallId: 'pick', result: 'red' }] }],
    },
    resumption: { needs: [START], send: ({ runId }) => [`/runs/${runId}/resume`, { payload: 'paid' }] },
  },
  'runs.fork': {
    decision: KEPT,
    event: COPY,
    tool: COPY,
    child: KEPT,
    resumption: { ...COPY, send: fork({ from: { seq: 1 } }) },
  },
  'runs.retry': {
    decision: RETRY([START, REPAIR, DECIDE]),
    event: RETRY([START]),
    tool: RETRY([START]),
    child: RETRY([START, REPAIR, DECIDE]),
    resumption: RETRY([START]),
  },
  ...PROTOCOL_PATHS,
  'ag-ui.capabilities': NOTHING,
  'ag-ui.connect': NOTHING,
  'agents.list': NOTHING,
  'agents.get': NOTHING,
  'agents.run': NOTHING,
  'agents.stream': NOTHING,
  'agents.state': NOTHING,
  'agents.abort': NOTHING,
  'ai-sdk.stream': NOTHING,
  'ai-sdk.messages': NOTHING,
  'ai-sdk.queue': NOTHING,
  'ai-sdk.stop': NOTHING,
  'ai-sdk.open-ws': NOTHING,
  'approvals.list': NOTHING,
  'approvals.get': NOTHING,
  'audit.list': NOTHING,
  'audit.export': NOTHING,
  'audit.verify': NOTHING,
  'console.create-code': NOTHING,
  'console.sign-in': NOTHING,
  'console.session': NOTHING,
  'console.sign-out': NOTHING,
  'console.system': NOTHING,
  'console.metrics': NOTHING,
  'consolidator.get': NOTHING,
  'consolidator.run': NOTHING,
  'consolidator.dead-letters': NOTHING,
  'consolidator.retry': NOTHING,
  'docs.openapi': NOTHING,
  'docs.asyncapi': NOTHING,
  'docs.page': NOTHING,
  'health.get': NOTHING,
  'health.live': NOTHING,
  'health.ready': NOTHING,
  'health.secrets': NOTHING,
  'mcp-server.resume': NOTHING,
  'mcp-server.resume-agent': NOTHING,
  'mcp.list': NOTHING,
  'mcp.bind': NOTHING,
  'mcp.remove': NOTHING,
  'mcp.tools': NOTHING,
  'mcp.call': NOTHING,
  'memory.search': NOTHING,
  'memory.list-facts': NOTHING,
  'memory.create-fact': NOTHING,
  'memory.get-fact': NOTHING,
  'memory.update-fact': NOTHING,
  'memory.delete-fact': NOTHING,
  'memory.list-blocks': NOTHING,
  'memory.put-block': NOTHING,
  'memory.delete-block': NOTHING,
  'memory.list-conflicts': NOTHING,
  'memory.resolve-conflict': NOTHING,
  'metrics.get': NOTHING,
  'nodes.list': NOTHING,
  'nodes.drain': NOTHING,
  'openai.models': NOTHING,
  'openai.model': NOTHING,
  'openai.get-response': NOTHING,
  'openai.cancel-response': NOTHING,
  'openai.response-input': NOTHING,
  'openai.create-conversation': NOTHING,
  'openai.get-conversation': NOTHING,
  'openai.update-conversation': NOTHING,
  'openai.delete-conversation': NOTHING,
  'openai.conversation-items': NOTHING,
  'realtime.create-ws-ticket': NOTHING,
  'realtime.open-ws': NOTHING,
  'runs.list': NOTHING,
  'runs.get': NOTHING,
  'runs.state': NOTHING,
  'runs.events': NOTHING,
  'runs.logs': NOTHING,
  'runs.abort': NOTHING,
  'runs.receipt': NOTHING,
  'runs.edit': NOTHING,
  'runs.withdraw': NOTHING,
  'sessions.queue': NOTHING,
  'runs.rerun': NOTHING,
  'runs.replay': NOTHING,
  'chats.list': NOTHING,
  'chats.get': NOTHING,
  'chats.update': NOTHING,
  'chats.delete': NOTHING,
  'chats.fork': NOTHING,
  'sessions.list': NOTHING,
  'sessions.create': NOTHING,
  'sessions.get': NOTHING,
  'sessions.update': NOTHING,
  'sessions.delete': NOTHING,
  'sessions.messages': NOTHING,
  'sessions.runs': NOTHING,
  'sessions.export': NOTHING,
  'sessions.events': NOTHING,
  'sessions.replay': NOTHING,
  'files.delete': NOTHING,
  'files.get': NOTHING,
  'files.list': NOTHING,
  'files.metadata': NOTHING,
  'files.upload': NOTHING,
  'skills.list': NOTHING,
  'skills.get': NOTHING,
  'skills.install': NOTHING,
  'skills.remove': NOTHING,
  'tokens.list': NOTHING,
  'tokens.self': NOTHING,
  'tokens.get': NOTHING,
  'tokens.create': NOTHING,
  'tokens.rotate': NOTHING,
  'tokens.revoke': NOTHING,
  'subjects.revoke': NOTHING,
  'subjects.usage': NOTHING,
  'triggers.list': NOTHING,
  'triggers.create': NOTHING,
  'triggers.prune': NOTHING,
  'triggers.get': NOTHING,
  'triggers.delete': NOTHING,
  'triggers.fire': NOTHING,
  'triggers.disable': NOTHING,
  'triggers.enable': NOTHING,
  'triggers.next': NOTHING,
  'triggers.fires': NOTHING,
  'webhooks.list': NOTHING,
  'webhooks.create': NOTHING,
  'webhooks.get': NOTHING,
  'webhooks.update': NOTHING,
  'webhooks.delete': NOTHING,
  'webhooks.enable': NOTHING,
  'webhooks.disable': NOTHING,
  'webhooks.rotate': NOTHING,
  'webhooks.test': NOTHING,
  'webhooks.deliveries': NOTHING,
  'webhooks.delivery': NOTHING,
  'webhooks.redeliver': NOTHING,
  'workflows.list': NOTHING,
  'workflows.get': NOTHING,
  'workflows.execute': NOTHING,
  'workflows.state': NOTHING,
  'workflows.checkpoints': NOTHING,
  'workflows.fork': NOTHING,
  'workflows.delete-thread': NOTHING,
}

/** What the methods of WebSocket connections can bring about. */
export const RPC_PATHS: Readonly<Record<RpcMethod, Paths>> = {
  initialize: NOTHING,
  'subscription.subscribe': NOTHING,
  'subscription.unsubscribe': NOTHING,
  'run.cancel': NOTHING,
  'credential.renew': NOTHING,
  ping: NOTHING,
}
