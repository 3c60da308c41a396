import { McpMessage } from '../resources/mcp-message.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'

export const mcpMessageSchemas = {
  McpMessage: namedObject(McpMessage, {
    description: 'A JSON-RPC 2.0 message of the Model Context Protocol.',
    members: {
      jsonrpc: 'The version of JSON-RPC.',
      id: 'Id of the request, or of the request that this message answers. Absent for notifications.',
      method: 'Name of the request or notification, such as `tools/call`. Absent for responses.',
      params: 'The parameters of the method.',
      result: 'The response to a request of the server.',
      error: 'Why the client could not answer a request of the server.',
    },
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  }),
} as const satisfies NamedSchemas
