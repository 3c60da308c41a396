import type { BlockRecord, BlockRef, Page } from '@perdure/ports'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { toPage } from '../query/page.ts'
import type { WriteAppliers } from '../transaction.ts'
import { BLOCK_COLUMNS, type BlockRow, toBlock, toBlockRow } from './block-row.ts'
import { type MemoryListRequest, memoryRows } from './memory-list.ts'

export function* findBlock(db: Db, ref: BlockRef): Program<BlockRecord | undefined> {
  const row = yield* db.get(selectBlock, ref)
  return row === undefined ? undefined : toBlock(row)
}

export function* listBlocks(db: Db, request: MemoryListRequest): Program<Page<BlockRecord>> {
  const rows = yield* memoryRows(db, 'blocks', request)
  return toPage(rows, request.page, { toRecord: toBlock, rankOf: (row) => row.created_at })
}

export const blockWrites: WriteAppliers<'block.put' | 'block.delete'> = {
  *'block.put'({ db }, { block }) {
    return yield* db.run(putBlock, toBlockRow(block))
  },
  *'block.delete'({ db }, { type, ref }) {
    const changes = yield* db.run(deleteBlock, ref)
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
