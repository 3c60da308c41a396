import type { BlockRecord, BlockRef, EpochMs, Page } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from, paramsFor } from '../query/compile.ts'
import type { BlockTable } from '../query/memory-schema.ts'
import { toPage } from '../query/page.ts'
import { type MemoryListRequest, memoryRows } from './memory-list.ts'
import type { WriteAppliers } from './write-applier.ts'

export async function findBlock(db: Connection, ref: BlockRef): Promise<BlockRecord | undefined> {
  const row = await db.get(selectBlock, ref)
  return row === undefined ? undefined : toRecord(row)
}

export async function listBlocks(db: Connection, request: MemoryListRequest): Promise<Page<BlockRecord>> {
  const rows = await memoryRows(db, 'blocks', request)
  return toPage(rows, request.page, { toRecord, rankOf: (row) => row.created_at })
}

export const blockWrites: WriteAppliers<'block.put' | 'block.delete'> = {
  'block.put': async ({ db }, { block }) => (await db.run(putBlock, toRow(block))).changes,
  async 'block.delete'({ db }, { type, ref }) {
    const { changes } = await db.run(deleteBlock, ref)
    return changes === 1 ? 1 : { type }
  },
}

type BlockRow = Selectable<BlockTable>
type NewBlockRow = BlockTable

const COLUMNS = ['id', 'owner', 'namespace', 'label', 'limit', 'created_at', 'updated_at', 'value'] as const

const selectBlock = compile<BlockRef, BlockRow>((param) =>
  from
    .selectFrom('blocks')
    .selectAll()
    .where('owner', '=', param('owner'))
    .where('namespace', '=', param('namespace'))
    .where('label', '=', param('label')),
)

const putBlock = compile<NewBlockRow, unknown>((param) =>
  from
    .insertInto('blocks')
    .values(paramsFor(param, COLUMNS))
    .onConflict((conflict) =>
      conflict.columns(['owner', 'namespace', 'label']).doUpdateSet((eb) => ({
        value: eb.ref('excluded.value'),
        limit: eb.ref('excluded.limit'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    ),
)

const deleteBlock = compile<BlockRef, unknown>((param) =>
  from
    .deleteFrom('blocks')
    .where('owner', '=', param('owner'))
    .where('namespace', '=', param('namespace'))
    .where('label', '=', param('label')),
)

const toRow = (block: BlockRecord): NewBlockRow => ({
  id: block.id,
  owner: block.owner,
  namespace: block.namespace,
  label: block.label,
  limit: block.limit,
  created_at: block.createdAt,
  updated_at: block.updatedAt,
  value: block.value,
})

const toRecord = (row: BlockRow): BlockRecord => ({
  id: row.id,
  owner: row.owner,
  namespace: row.namespace,
  label: row.label,
  limit: row.limit,
  createdAt: row.created_at as EpochMs,
  updatedAt: row.updated_at as EpochMs,
  value: row.value,
})
