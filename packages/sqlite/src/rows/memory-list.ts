import type { PageQuery, Visibility } from '@perdure/ports'
import { isBeyond, type PageValues, pageValues, pageVariant, type Query } from '@perdure/sql'
import type { Compilable, Selectable } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import { type AccessValues, accessValues, isVisible, unindexed, visibilityVariant } from '../query/row-visibility.ts'
import type { Schema } from '../query/schema.ts'
import { MEMORY_ACCESS } from './fact-filter.ts'

export interface MemoryListRequest {
  readonly namespace?: string | undefined
  readonly page: PageQuery
  readonly visibility: Visibility
}

type MemoryTable = 'blocks' | 'memory_conflicts'
type MemoryListValues = AccessValues & PageValues & { readonly namespace: string }

/** Yields the rows of the page, plus one if another page follows. */
export function memoryRows<Table extends MemoryTable>(
  db: Connection,
  table: Table,
  request: MemoryListRequest,
): Iterable<Selectable<Schema[Table]>> {
  const { namespace, page, visibility } = request
  const filter = namespace === undefined ? 'any' : 'one'
  const name = `${table} of ${filter} namespace ${pageVariant(page)} ${visibilityVariant(visibility)}`
  const values = { ...pageValues(page), ...accessValues(visibility), namespace: namespace ?? '' }
  return db.each(
    db.variant(name, () => memoryListQuery(table, request)),
    values,
  )
}

export const memoryListQuery = <Table extends MemoryTable>(
  table: Table,
  { namespace, page, visibility }: MemoryListRequest,
): Query<MemoryListValues, Selectable<Schema[Table]>> =>
  compile((param) => {
    const visible = isVisible(visibility, MEMORY_ACCESS, param)
    const query = from
      .selectFrom(table as MemoryTable)
      .selectAll()
      .$if(namespace !== undefined, (rows) => rows.where('namespace', '=', param('namespace')))
      .where(namespace === undefined ? visible : unindexed(visible))
      .$if(page.cursor !== undefined, (rows) => rows.where(isBeyond(param, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit'))
    return query as Compilable<unknown> as Compilable<Selectable<Schema[Table]>>
  })
