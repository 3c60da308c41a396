import type { McpServerStore } from '@perdure/ports'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { deleteBy, insertInto, selectById } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { MCP_SERVERS, type McpServerRow } from './mcp-server-row.ts'

export const mcpServerReads: Reads<McpServerStore> = {
  *find(db, id) {
    const row = yield* db.get(selectOne, { id })
    return row && MCP_SERVERS.toRecord(row)
  },
  *list(db) {
    return (yield* db.all(selectAll, {})).map(MCP_SERVERS.toRecord)
  },
}

export const mcpServerWrites: WriteAppliers<WritesOf<'mcp-server'>> = {
  *'mcp-server.insert'({ db }, { type, server }) {
    const changes = yield* db.run(insertServer, MCP_SERVERS.toRow(server))
    return changes === 1 ? 1 : { type, current: yield* mcpServerReads.find(db, server.id) }
  },
  *'mcp-server.delete'({ db }, { type, id }) {
    return (yield* db.run(deleteServer, { id })) === 1 ? 1 : { type }
  },
}

const selectOne = selectById<McpServerRow>('mcp_servers')
const selectAll = compile<object, McpServerRow>(() => from.selectFrom('mcp_servers').selectAll().orderBy('id'))
const insertServer = insertInto<McpServerRow>('mcp_servers', MCP_SERVERS.columns, 'id')
const deleteServer = deleteBy('id', 'mcp_servers')
