import type { BlockRecord, BlockRef, Page } from '@perdure/ports'
import { BLOCK_COLUMNS, type BlockRow, paramsFor, toBlock, toBlockRow, toPage } from '@perdure/sql'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { type MemoryListRequest, memoryRows } from './memory-list.ts'
import type { WriteAppliers } from './write-applier.ts'

export async function findBlock(db: Connection, ref: BlockRef): Promise<BlockRecord | undefined> {
  const row = await db.get(selectBlock, ref)
  return row === undefined ? undefined : toBlock(row)
}

export async function listBlocks(db: Connection, request: MemoryListRequest): Promise<Page<BlockRecord>> {
  const rows = await memoryRows(db, 'blocks', request)
  return toPage(rows, request.page, { toRecord: toBlock, rankOf: (row) => row.created_at })
}

export const blockWrites: WriteAppliers<'block.put' | 'block.delete'> = {
  'block.put': async ({ db }, { block }) => (await db.run(putBlock, toBlockRow(block))).changes,
  async 'block.delete'({ db }, { type, ref }) {
    const { changes } = await db.run(deleteBlock, ref)
    return changes === 1 ? 1 : { type }
  },
}

const selectBlock = compile<BlockRef, BlockRow>((param) =>
  from
    .selectFrom('blocks')
    .selectAll()
    .where('owner', '=', param('owner'))
    .where('namespace', '=', param('namespace'))
    .where('label', '=', param('label')),
)

const putBlock = compile<BlockRow, unknown>((param) =>
  from
    .insertInto('blocks')
    .values(paramsFor(param, BLOCK_COLUMNS))
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
