import type { McpServerRecord } from '@perdure/ports'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { WriteAppliers } from '../transaction.ts'
import { MCP_SERVER_COLUMNS, type McpServerRow, toMcpServer, toMcpServerRow } from './mcp-server-row.ts'

export function* findMcpServer(db: Db, id: string): Program<McpServerRecord | undefined> {
  const row = yield* db.get(selectOne, { id })
  return row === undefined ? undefined : toMcpServer(row)
}

export function* listMcpServers(db: Db): Program<readonly McpServerRecord[]> {
  return (yield* db.all(selectAll, {})).map(toMcpServer)
}

export const mcpServerWrites: WriteAppliers<'mcp-server.insert' | 'mcp-server.delete'> = {
  *'mcp-server.insert'({ db }, { type, server }) {
    const changes = yield* db.run(insertServer, toMcpServerRow(server))
    return changes === 1 ? 1 : { type, current: yield* findMcpServer(db, server.id) }
  },
  *'mcp-server.delete'({ db }, { type, id }) {
    return (yield* db.run(deleteServer, { id })) === 1 ? 1 : { type }
  },
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
