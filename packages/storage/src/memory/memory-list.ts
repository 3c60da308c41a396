import type { PageQuery, Visibility } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant } from '../query/page.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import type { Schema } from '../query/schema.ts'
import { MEMORY_ACCESS } from './fact-filter.ts'

export interface MemoryListRequest {
  readonly namespace?: string | undefined
  readonly page: PageQuery
  readonly visibility: Visibility
}

type MemoryTable = 'blocks' | 'memory_conflicts'
type MemoryListValues = AccessValues & PageValues & { readonly namespace: string }

const LONG_TEXTS = { blocks: ['value'], memory_conflicts: ['fact_id', 'other_fact_id', 'reason'] } as const

/** Yields the rows of the page, plus one if another page follows. */
export function* memoryRows<Table extends MemoryTable>(
  db: Db,
  table: Table,
  request: MemoryListRequest,
): Program<Iterable<Selectable<Schema[Table]>>> {
  const { namespace, page, visibility } = request
  const filter = namespace === undefined ? 'any' : 'one'
  const name = `${table} of ${filter} namespace ${pageVariant(page)} ${visibilityVariant(visibility)}`
  const values = { ...pageValues(page), ...accessValues(visibility), namespace: namespace ?? '' }
  return yield* db.each(
    db.variant(name, () => memoryListQuery(table, request)),
    values,
  )
}

export const memoryListQuery = <Table extends MemoryTable>(
  table: Table,
  { namespace, page, visibility }: MemoryListRequest,
): Query<MemoryListValues, Selectable<Schema[Table]>> =>
  compile((param, dialect) => {
    const visible = isVisible(visibility, MEMORY_ACCESS, { param, dialect })
    const query = from
      .selectFrom(table as MemoryTable)
      .selectAll()
      .$if(namespace !== undefined, (rows) => rows.where('namespace', '=', param('namespace')))
      .where(namespace === undefined ? visible : dialect.unindexed(visible))
      .$if(page.cursor !== undefined, (rows) => rows.where(isBeyond(param, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit'))
    return dialect.bounded(query.$castTo<Selectable<Schema[Table]>>(), LONG_TEXTS[table])
  })
