import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { listOf, PageEntries } from '../resources/list.ts'
import { BindMcpServerRequest, CallToolRequest, McpServer, McpTool, ToolResult } from '../resources/mcp.ts'

export const mcpOperations = {
  listMcpServers: {
    id: 'mcp.list',
    method: 'GET',
    path: '/mcp/servers',
    scope: 'mcp:read',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(McpServer), description: 'The added MCP servers, by id.' } },
    errors: [],
    summary: 'List MCP servers.',
  },
  bindMcpServer: {
    id: 'mcp.bind',
    method: 'POST',
    path: '/mcp/servers',
    scope: 'mcp:write',
    idempotent: true,
    body: BindMcpServerRequest,
    responses: { 201: { schema: McpServer, location: true, description: 'The added MCP server.' } },
    errors: ['mcp-host-denied', 'mcp-headers-denied', 'mcp-server-exists'],
    summary: 'Add an MCP server that is reached over HTTP.',
  },
  removeMcpServer: {
    id: 'mcp.remove',
    method: 'DELETE',
    path: '/mcp/servers/:serverId',
    scope: 'mcp:write:{serverId}',
    idempotent: true,
    responses: { 204: { description: 'The MCP server is removed.' } },
    errors: ['mcp-server-not-found'],
    summary: 'Remove an MCP server.',
  },
  listMcpTools: {
    id: 'mcp.tools',
    method: 'GET',
    path: '/mcp/servers/:serverId/tools',
    scope: 'mcp:read:{serverId}',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(McpTool), description: 'The tools of the server, by name.' } },
    errors: ['mcp-server-not-found', 'mcp-host-denied', 'mcp-headers-denied', 'mcp-server-unavailable'],
    summary: 'List the tools of an MCP server.',
  },
  callMcpTool: {
    id: 'mcp.call',
    method: 'POST',
    path: '/mcp/servers/:serverId/tools/:toolName/call',
    scope: 'mcp:call:{serverId}',
    idempotent: true,
    body: CallToolRequest,
    responses: { 200: { schema: ToolResult, description: 'The result of the tool, or how it failed.' } },
    errors: [
      'mcp-server-not-found',
      'mcp-tool-not-found',
      'mcp-host-denied',
      'mcp-headers-denied',
      'mcp-server-unavailable',
      'server-draining',
    ],
    summary: 'Call a tool of an MCP server.',
  },
} as const satisfies OperationTable
