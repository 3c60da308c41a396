import type { BlockRef, BlockStore, EpochMs } from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import { compile, type Param, paramsFor } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { toPage } from '../query/page.ts'
import type { Reads } from '../reads.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { BLOCKS, type BlockRow } from './block-row.ts'
import { memoryRows } from './memory-list.ts'

export const blockReads: Reads<BlockStore> = {
  *find(db, ref) {
    const row = yield* db.get(selectBlock, ref)
    return row && BLOCKS.toRecord(row)
  },
  *list(db, namespace, page, visibility) {
    const rows = yield* memoryRows(db, 'blocks', { namespace, page, visibility })
    return toPage(rows, page, { toRecord: BLOCKS.toRecord, rankOf: (row) => row.created_at })
  },
}

export const blockWrites: WriteAppliers<WritesOf<'block'>> = {
  *'block.put'({ db }, { type, block, from: expected }) {
    if (expected === undefined) return yield* db.run(putBlock, BLOCKS.toRow(block))
    const row = BLOCKS.toRow(block)
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

const selectBlock = compile<BlockRef, BlockRow>((param) => sql`select * from blocks where ${isBlock(param)}`)

const putBlock = compile<BlockRow, unknown>((param) =>
  from
    .insertInto('blocks')
    .values(paramsFor(param, BLOCKS.columns))
    .onConflict((conflict) =>
      conflict.columns(['owner', 'namespace', 'label']).doUpdateSet((eb) => ({
        value: eb.ref('excluded.value'),
        limit: eb.ref('excluded.limit'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    ),
)

const insertBlock = compile<BlockRow, unknown>((param) =>
  from
    .insertInto('blocks')
    .values(paramsFor(param, BLOCKS.columns))
    .onConflict((conflict) => conflict.columns(['owner', 'namespace', 'label']).doNothing()),
)

const replaceBlock = compile<BlockRow & { readonly from: EpochMs }, unknown>((param) =>
  from
    .updateTable('blocks')
    .set({ value: param('value'), limit: param('limit'), updated_at: param('updated_at') })
    .where(isBlock(param))
    .where('updated_at', '=', param('from')),
)

const deleteBlock = compile<BlockRef, unknown>((param) => from.deleteFrom('blocks').where(isBlock(param)))

const deleteBlockAt = compile<BlockRef & { readonly from: EpochMs }, unknown>((param) =>
  from.deleteFrom('blocks').where(isBlock(param)).where('updated_at', '=', param('from')),
)

const isBlock = (param: Param<BlockRef>) =>
  sql<SqlBool>`owner = ${param('owner')} and namespace = ${param('namespace')} and label = ${param('label')}`
