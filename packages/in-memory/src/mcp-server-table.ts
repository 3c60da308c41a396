import type { McpServerRecord, McpServerStore } from '@perdure/ports'
import { putEntry } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createMcpServerTable(): Table<McpServerStore, WritesOf<'mcp-server'>> {
  const servers = new Map<string, McpServerRecord>()

  return {
    store: {
      find: async (id) => servers.get(id),
      list: async () => Array.from(servers.values()).sort((one, other) => (one.id < other.id ? -1 : 1)),
    },
    appliers: {
      'mcp-server.insert'({ type, server }, { undo }) {
        const current = servers.get(server.id)
        if (current !== undefined) return { type, current }
        putEntry(servers, [server.id, server], undo)
        return 1
      },
      'mcp-server.delete'({ type, id }, { undo }) {
        if (!servers.has(id)) return { type }
        putEntry(servers, [id, undefined], undo)
        return 1
      },
    },
  }
}
