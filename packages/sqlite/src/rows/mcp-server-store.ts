import type { McpServerRecord } from '@perdure/ports'
import { MCP_SERVER_COLUMNS, type McpServerRow, paramsFor, toMcpServer, toMcpServerRow } from '@perdure/sql'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { WriteAppliers } from './write-applier.ts'

export function findMcpServer(db: Connection, id: string): McpServerRecord | undefined {
  const row = db.get(selectOne, { id })
  return row === undefined ? undefined : toMcpServer(row)
}

export const listMcpServers = (db: Connection): readonly McpServerRecord[] => db.all(selectAll, {}).map(toMcpServer)

export const mcpServerWrites: WriteAppliers<'mcp-server.insert' | 'mcp-server.delete'> = {
  'mcp-server.insert'({ db }, { type, server }) {
    const { changes } = db.run(insertServer, toMcpServerRow(server))
    return changes === 1 ? 1 : { type, current: findMcpServer(db, server.id) }
  },
  'mcp-server.delete': ({ db }, { type, id }) => (db.run(deleteServer, { id }).changes === 1 ? 1 : { type }),
}

const selectOne = compile<{ id: string }, McpServerRow>((param) =>
  from.selectFrom('mcp_servers').selectAll().where('id', '=', param('id')),
)

const selectAll = compile<object, McpServerRow>(() => from.selectFrom('mcp_servers').selectAll().orderBy('id'))

const insertServer = compile<McpServerRow, unknown>((param) =>
  from
    .insertInto('mcp_servers')
    .values(paramsFor(param, MCP_SERVER_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const deleteServer = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('mcp_servers').where('id', '=', param('id')),
)
