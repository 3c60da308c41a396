import { ERRORS, type ErrorCode } from '../../errors.ts'
import type { OperationTable } from '../../operation.ts'
import { DECIDE } from '../../operations/approvals.ts'
import { RUN_SIGHT } from '../../operations/runs.ts'
import { RPC_CODES } from '../../rpc-codes.ts'
import type { Protocol } from '../protocol.ts'
import * as schemas from './schemas.ts'
import { McpMessage } from './schemas.ts'

const MCP = { sight: RUN_SIGHT } as const

const SEND = {
  ...MCP,
  method: 'POST',
  polls: { header: 'mcp-method', value: 'tasks/get' },
  idempotent: false,
  body: McpMessage,
  responses: {
    200: {
      stream: 'event-stream',
      description: 'The response: JSON, or an event stream for a tool call or subscription that streams.',
    },
    202: { description: 'The notification or response is accepted.' },
  },
} as const

const SEND_ERRORS = [
  'approval-not-assigned',
  // Of a tool call, which takes its key also from a member of the message.
  ...['idempotency-key-invalid', 'idempotency-key-required'],
  ...['run-not-found', 'queue-full', 'quota-exceeded', 'overloaded', 'server-draining', 'storage-full'],
] as const

const RESUME = {
  ...MCP,
  method: 'GET',
  polls: true,
  idempotent: false,
  responses: { 200: { stream: 'event-stream', description: 'The rest of the response to an earlier tool call.' } },
} as const

/** `method-not-allowed`: without a Last-Event-ID. Clients ask so for messages that belong to no request. */
const RESUME_ERRORS = ['run-not-found', 'overloaded', 'method-not-allowed'] as const

const ALL = {
  path: '/mcp',
  // Each tool demands the scope of its agent or workflow.
  scope: 'principal',
} as const

const ONE = { path: '/mcp/agents/:agentId', scope: 'agents:invoke:{agentId}' } as const

const operations = {
  sendMcpMessage: {
    ...SEND,
    ...ALL,
    id: 'mcp-server.send',
    mayNeed: ['agents:invoke:{agentId}', 'workflows:execute:{workflowId}', ...DECIDE],
    errors: SEND_ERRORS,
    summary: 'Send a message of the Model Context Protocol.',
  },
  resumeMcpStream: {
    ...RESUME,
    ...ALL,
    id: 'mcp-server.resume',
    errors: RESUME_ERRORS,
    summary: 'Resume the response to a tool call after its Last-Event-ID.',
  },
  sendAgentMcpMessage: {
    ...SEND,
    ...ONE,
    id: 'mcp-server.send-agent',
    mayNeed: DECIDE,
    errors: ['agent-not-found', ...SEND_ERRORS],
    summary: 'Send a message of the Model Context Protocol to a server with one agent.',
  },
  resumeAgentMcpStream: {
    ...RESUME,
    ...ONE,
    id: 'mcp-server.resume-agent',
    errors: ['agent-not-found', ...RESUME_ERRORS],
    summary: 'Resume the response to a call of the agent after its Last-Event-ID.',
  },
} as const satisfies OperationTable

const errorBody: Protocol['errorBody'] = ({ code, error, message, hint, requestId, retryAfterMs }, json) => ({
  text: JSON.stringify({
    jsonrpc: '2.0',
    id: idIn(json),
    error: { code: rpcCodeOf(code), message, data: { code: error, hint, requestId, retryAfterMs } },
  }),
  contentType: 'application/json; charset=utf-8',
})

/** The id of the JSON-RPC request; `null` if it has none or was not read. */
function idIn(json: unknown): string | number | null {
  const id = typeof json === 'object' && json !== null && 'id' in json ? json.id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

function rpcCodeOf(code: ErrorCode): number {
  if (code === 'invalid-json') return RPC_CODES['parse-error'].code
  return RPC_CODES[ERRORS[code].status < 500 ? 'invalid-request' : 'internal-error'].code
}

export const mcp = {
  group: 'mcp-server',
  summary: 'This server as a Model Context Protocol server whose tools are the agents and workflows.',
  mounts: 'Mount the MCP server at `/mcp`, whose tools are the agents and workflows.',
  operations,
  schemas,
  headers: {
    sent: ['Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version', 'Mcp-Session-Id'],
    read: ['Mcp-Session-Id'],
  },
  needsStream: false,
  errorBody,
} as const satisfies Protocol
