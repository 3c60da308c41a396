import type { BlockRecord, BlockRef, EpochMs, Page } from '@perdure/ports'
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
  *'block.put'({ db }, { type, block, from: expected }) {
    if (expected === undefined) return yield* db.run(putBlock, toBlockRow(block))
    const row = toBlockRow(block)
    const changes =
      expected === null ? yield* db.run(insertBlock, row) : yield* db.run(replaceBlock, { ...row, from: expected })
    return changes === 1 ? 1 : { type }
  },
  *'block.delete'({ db }, { type, ref, from: expected }) {
    const changes =
      expected === undefined
        ? yield* db.run(deleteBlock, ref)
        : yield* db.run(deleteBlockAt, { ...ref, from: expected })
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

const insertBlock = compile<BlockRow, unknown>((param) =>
  from
    .insertInto('blocks')
    .values(paramsFor(param, BLOCK_COLUMNS))
    .onConflict((conflict) => conflict.columns(['owner', 'namespace', 'label']).doNothing()),
)

const replaceBlock = compile<BlockRow & { readonly from: EpochMs }, unknown>((param) =>
  from
    .updateTable('blocks')
    .set({ value: param('value'), limit: param('limit'), updated_at: param('updated_at') })
    .where('owner', '=', param('owner'))
    .where('namespace', '=', param('namespace'))
    .where('label', '=', param('label'))
    .where('updated_at', '=', param('from')),
)

const deleteBlockAt = compile<BlockRef & { readonly from: EpochMs }, unknown>((param) =>
  from
    .deleteFrom('blocks')
    .where('owner', '=', param('owner'))
    .where('namespace', '=', param('namespace'))
    .where('label', '=', param('label'))
    .where('updated_at', '=', param('from')),
)
