import type { OperationTable } from '../operation.ts'
import { McpMessage } from '../resources/mcp-message.ts'
import { RUN_SIGHT } from './runs.ts'

const MCP = {
  path: '/mcp',
  // Each tool demands the scope of its agent or workflow.
  scope: 'principal',
  sight: RUN_SIGHT,
  dialect: 'mcp',
} as const

/** Streamable HTTP of the Model Context Protocol. */
export const mcpServerOperations = {
  sendMcpMessage: {
    ...MCP,
    id: 'mcpserver.send',
    method: 'POST',
    polls: { header: 'mcp-method', value: 'tasks/get' },
    idempotent: false,
    body: McpMessage,
    responses: {
      200: {
        stream: 'event-stream',
        description: 'The response: JSON, or an event stream for a tool call that streams.',
      },
      202: { description: 'The notification or response is accepted.' },
    },
    errors: ['run-not-found', 'queue-full', 'overloaded', 'server-draining', 'storage-full'],
    summary: 'Send a message of the Model Context Protocol.',
  },
  resumeMcpStream: {
    ...MCP,
    id: 'mcpserver.resume',
    method: 'GET',
    polls: true,
    idempotent: false,
    responses: { 200: { stream: 'event-stream', description: 'The rest of the response to an earlier tool call.' } },
    // `method-not-allowed`: without a Last-Event-ID. Clients ask so for messages that belong to no request.
    errors: ['run-not-found', 'overloaded', 'method-not-allowed'],
    summary: 'Resume the response to a tool call after its Last-Event-ID.',
  },
} as const satisfies OperationTable
