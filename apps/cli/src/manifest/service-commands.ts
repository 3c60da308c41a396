import { Fact, listOf, McpServer, McpTool, PROTOCOLS, SearchResult, Skill } from '@perdure/protocol'
import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'
import { ASKING, CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

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
    load: async () => (await import('../commands/memory-command.ts')).memorySearchCommand,
  },
  {
    path: 'memory show',
    summary: 'show a fact',
    ...READS,
    arguments: [{ name: 'fact', note: 'fact id' }],
    examples: ['perdure memory show mem_01KX3F', 'perdure memory show mem_01KX3F --json=text'],
    schema: Fact,
    load: async () => (await import('../commands/memory-command.ts')).memoryShowCommand,
  },
  {
    path: 'memory forget',
    summary: 'delete a fact permanently',
    ...CHANGES,
    arguments: [{ name: 'fact', note: 'fact id' }],
    examples: ['perdure memory forget mem_01KX3F', 'perdure memory forget mem_01KX3F --json'],
    schema: v.object({ id: v.string(), deleted: v.literal(true) }),
    load: async () => (await import('../commands/memory-command.ts')).memoryForgetCommand,
  },
  {
    path: 'skills list',
    summary: 'list skills',
    ...READS,
    flags: PAGE_FLAGS,
    examples: ['perdure skills list', 'perdure skills list --json=name,status'],
    schema: listOf(Skill),
    load: async () => (await import('../commands/services-command.ts')).skillsListCommand,
  },
  {
    path: 'mcp list',
    summary: 'list the registered MCP servers',
    ...READS,
    flags: PAGE_FLAGS,
    examples: ['perdure mcp list', 'perdure mcp list --json=id,status'],
    schema: listOf(McpServer),
    load: async () => (await import('../commands/services-command.ts')).mcpListCommand,
  },
  {
    path: 'mcp test',
    summary: 'connect to an MCP server and list its tools',
    ...READS,
    arguments: [{ name: 'server', note: 'MCP server id' }],
    examples: ['perdure mcp test github', 'perdure mcp test github --json=name'],
    schema: listOf(McpTool),
    load: async () => (await import('../commands/services-command.ts')).mcpTestCommand,
  },
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
