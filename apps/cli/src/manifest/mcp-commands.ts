import { PROTOCOLS } from '@perdure/protocol'
import { id, status } from '../output/columns.ts'
import type { CommandGroup } from './command-spec.ts'
import { lists } from './operation-rows.ts'
import { ASKING } from './server-rows.ts'

export const mcpCommands: CommandGroup = {
  summary: 'list and test MCP servers',
  commands: [
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
      note: (_, { server }: { readonly server: string }, { out }) =>
        out.isJson ? undefined : `${server} is reachable`,
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
  ],
}
