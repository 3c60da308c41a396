import type { EpochMs, McpServerRecord } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from, paramsFor } from '../query/compile.ts'
import type { McpServerTable } from '../query/schema.ts'
import type { WriteAppliers } from './write-applier.ts'

export async function findMcpServer(db: Connection, id: string): Promise<McpServerRecord | undefined> {
  const row = await db.get(selectOne, { id })
  return row === undefined ? undefined : toRecord(row)
}

export const listMcpServers = async (db: Connection): Promise<readonly McpServerRecord[]> =>
  (await db.all(selectAll, {})).map(toRecord)

export const mcpServerWrites: WriteAppliers<'mcp-server.insert' | 'mcp-server.delete'> = {
  async 'mcp-server.insert'({ db }, { type, server }) {
    const { changes } = await db.run(insertServer, toRow(server))
    return changes === 1 ? 1 : { type, current: await findMcpServer(db, server.id) }
  },
  'mcp-server.delete': async ({ db }, { type, id }) =>
    (await db.run(deleteServer, { id })).changes === 1 ? 1 : { type },
}

type McpServerRow = McpServerTable

const COLUMNS = ['id', 'url', 'headers_ref', 'created_at', 'created_by'] as const

const selectOne = compile<{ id: string }, Selectable<McpServerTable>>((param) =>
  from.selectFrom('mcp_servers').selectAll().where('id', '=', param('id')),
)

const selectAll = compile<object, Selectable<McpServerTable>>(() =>
  from.selectFrom('mcp_servers').selectAll().orderBy('id'),
)

const insertServer = compile<McpServerRow, unknown>((param) =>
  from
    .insertInto('mcp_servers')
    .values(paramsFor(param, COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const deleteServer = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('mcp_servers').where('id', '=', param('id')),
)

const toRow = (server: McpServerRecord): McpServerRow => ({
  id: server.id,
  url: server.url,
  headers_ref: server.headersRef ?? null,
  created_at: server.createdAt,
  created_by: server.createdBy,
})

const toRecord = (row: Selectable<McpServerTable>): McpServerRecord => ({
  id: row.id,
  url: row.url,
  headersRef: row.headers_ref ?? undefined,
  createdAt: row.created_at as EpochMs,
  createdBy: row.created_by,
})
