import { PROTOCOLS, SearchResult } from '@perdure/protocol'
import { id, status } from '../output/columns.ts'
import type { CommandSpec } from './command-spec.ts'
import { answers, deletes, lists } from './operation-rows.ts'
import { ASKING, READS } from './server-rows.ts'

/** Memory, skills and MCP servers. */
export const serviceCommands: readonly CommandSpec[] = [
  {
    path: 'memory search',
    summary: 'search facts, best match first',
    ...READS,
    arguments: [{ name: 'query', note: 'words to search for', variadic: true }],
    flags: [
      { name: 'namespace', type: 'string', note: 'search only this namespace' },
      { name: 'limit', type: 'integer', value: 'count', note: 'show at most this many, up to 200', default: 20 },
    ],
    examples: [
      'perdure memory search invoice address',
      'perdure memory search "invoice address" --namespace customers --json',
    ],
    schema: SearchResult,
    load: async () => (await import('../commands/memory-search-command.ts')).memorySearchCommand,
  },
  answers('memory.get-fact', {
    path: 'memory show',
    summary: 'show a fact',
    arguments: [{ name: 'fact', note: 'fact id' }],
    examples: ['perdure memory show mem_01KX3F', 'perdure memory show mem_01KX3F --json=text'],
  }),
  deletes('memory.delete-fact', {
    path: 'memory forget',
    summary: 'delete a fact permanently',
    arguments: [{ name: 'fact', note: 'fact id' }],
    examples: ['perdure memory forget mem_01KX3F', 'perdure memory forget mem_01KX3F --json'],
  }),
  lists('skills.list', {
    path: 'skills list',
    summary: 'list skills',
    examples: ['perdure skills list', 'perdure skills list --json=name,status'],
    columns: {
      SKILL: 'name',
      STATUS: status('status'),
      DESCRIPTION: ({ description, reason }) => reason ?? description,
    },
  }),
  lists('mcp.list', {
    path: 'mcp list',
    summary: 'list the registered MCP servers',
    examples: ['perdure mcp list', 'perdure mcp list --json=id,status'],
    columns: { SERVER: id('id'), TRANSPORT: 'transport', STATUS: status('status'), FROM: 'source', URL: 'url' },
  }),
  // Listing the tools makes the server connect to the MCP server.
  lists('mcp.tools', {
    path: 'mcp test',
    summary: 'connect to an MCP server and list its tools',
    arguments: [{ name: 'server', note: 'MCP server id' }],
    examples: ['perdure mcp test github', 'perdure mcp test github --json=name'],
    isShort: true,
    columns: { TOOL: 'name', DESCRIPTION: 'description' },
    note: (_, { server }: { readonly server: string }, { out }) => (out.isJson ? undefined : `${server} is reachable`),
  }),
  {
    path: 'mcp serve',
    summary: 'let an MCP client that starts local programs use the agents of a running server as tools',
    target: 'server',
    exits: ASKING,
    flags: [
      { name: 'stdio', type: 'boolean', note: 'speak over stdin and stdout (the only transport, and the default)' },
    ],
    examples: ['perdure mcp serve --stdio', 'perdure mcp serve --stdio --url https://agents.example.com/v1'],
    output: 'stream',
    schema: PROTOCOLS.mcp.schemas.McpMessage,
    isService: true,
    load: async () => (await import('../commands/mcp-serve-command.ts')).mcpServeCommand,
  },
]
