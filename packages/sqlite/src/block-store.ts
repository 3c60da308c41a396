import type { BlockRecord, BlockRef, EpochMs, Page, PageQuery, Visibility } from '@berth/ports'
import type { Selectable } from 'kysely'
import type { Connection } from './connection.ts'
import { MEMORY_ACCESS } from './fact-rows.ts'
import type { BlockTable } from './memory-schema.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from './page.ts'
import { compile, from, placesFor, type Query } from './query.ts'
import { type AccessValues, accessValues, isVisible, unindexed, visibilityVariant } from './row-visibility.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface MemoryListRequest {
  readonly namespace?: string | undefined
  readonly page: PageQuery
  readonly visibility: Visibility
}

export type MemoryListValues = AccessValues & PageValues & { readonly namespace: string }

export const memoryListVariant = ({ namespace, page, visibility }: MemoryListRequest): string =>
  `${namespace === undefined ? '-' : '+'} ${pageVariant(page)} ${visibilityVariant(visibility)}`

export const memoryListValues = ({ namespace = '', page, visibility }: MemoryListRequest): MemoryListValues => ({
  ...pageValues(page),
  ...accessValues(visibility),
  namespace,
})

export function findBlock(db: Connection, ref: BlockRef): BlockRecord | undefined {
  const row = db.get(selectBlock, ref)
  return row === undefined ? undefined : toRecord(row)
}

export function listBlocks(db: Connection, request: MemoryListRequest): Page<BlockRecord> {
  const query = db.variant(`blocks ${memoryListVariant(request)}`, () => blockListQuery(request))
  const rows = db.all(query, memoryListValues(request))
  return toPage(rows, request.page, { toRecord, rankOf: (row) => row.created_at })
}

export const blockWrites: WriteAppliers<'block.put' | 'block.delete'> = {
  'block.put': ({ db }, { block }) => db.run(putBlock, toRow(block)).changes,
  'block.delete'({ db }, { type, ref }) {
    const { changes } = db.run(deleteBlock, ref)
    return changes === 1 ? 1 : { type }
  },
}

type BlockRow = Selectable<BlockTable>
type NewBlockRow = Omit<BlockTable, 'key'>

const COLUMNS = ['id', 'owner', 'namespace', 'label', 'limit', 'created_at', 'updated_at', 'value'] as const

const selectBlock = compile<BlockRef, BlockRow>((place) =>
  from
    .selectFrom('blocks')
    .selectAll()
    .where('owner', '=', place('owner'))
    .where('namespace', '=', place('namespace'))
    .where('label', '=', place('label')),
)

export const blockListQuery = ({ namespace, page, visibility }: MemoryListRequest): Query<MemoryListValues, BlockRow> =>
  compile((place) => {
    const visible = isVisible(visibility, MEMORY_ACCESS, place)
    return from
      .selectFrom('blocks')
      .selectAll()
      .$if(namespace !== undefined, (query) => query.where('namespace', '=', place('namespace')))
      .where(namespace === undefined ? visible : unindexed(visible))
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(place, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(place('limit'))
  })

const putBlock = compile<NewBlockRow, unknown>((place) =>
  from
    .insertInto('blocks')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) =>
      conflict.columns(['owner', 'namespace', 'label']).doUpdateSet((eb) => ({
        value: eb.ref('excluded.value'),
        limit: eb.ref('excluded.limit'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    ),
)

const deleteBlock = compile<BlockRef, unknown>((place) =>
  from
    .deleteFrom('blocks')
    .where('owner', '=', place('owner'))
    .where('namespace', '=', place('namespace'))
    .where('label', '=', place('label')),
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
