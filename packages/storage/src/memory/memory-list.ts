import type { PageQuery, Visibility } from '@perdure/ports'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import type { Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { type PageValues, pageValues, pageVariant } from '../query/page.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import type { Schema } from '../query/schema.ts'
import { listQuery } from '../query/table-queries.ts'
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
  const query = db.variant(name, () => memoryListQuery(table, request))
  return yield* db.each(query, values)
}

export const memoryListQuery = <Table extends MemoryTable>(
  table: Table,
  { namespace, page, visibility }: MemoryListRequest,
): Query<MemoryListValues, Selectable<Schema[Table]>> =>
  listQuery(table, {
    page,
    texts: LONG_TEXTS[table],
    where(param, dialect) {
      const visible = isVisible(visibility, MEMORY_ACCESS, { param, dialect })
      return namespace === undefined
        ? [visible]
        : [sql<SqlBool>`namespace = ${param('namespace')}`, dialect.unindexed(visible)]
    },
  })
