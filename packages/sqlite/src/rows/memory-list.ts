import type { PageQuery, Visibility } from '@perdure/ports'
import type { Compilable, Selectable } from 'kysely'
import type { Connection } from './connection.ts'
import { MEMORY_ACCESS } from './fact-rows.ts'
import { isBeyond, type PageValues, pageValues, pageVariant } from './page.ts'
import { compile, from, type Query } from './query.ts'
import { type AccessValues, accessValues, isVisible, unindexed, visibilityVariant } from './row-visibility.ts'
import type { Schema } from './schema.ts'

export interface MemoryListRequest {
  readonly namespace?: string | undefined
  readonly page: PageQuery
  readonly visibility: Visibility
}

type MemoryTable = 'blocks' | 'memory_conflicts'
type MemoryListValues = AccessValues & PageValues & { readonly namespace: string }

/** The rows of the page, and one more when another page follows. */
export function memoryRows<Table extends MemoryTable>(
  db: Connection,
  table: Table,
  request: MemoryListRequest,
): readonly Selectable<Schema[Table]>[] {
  const { namespace, page, visibility } = request
  const filter = namespace === undefined ? 'any' : 'one'
  const name = `${table} of ${filter} namespace ${pageVariant(page)} ${visibilityVariant(visibility)}`
  const values = { ...pageValues(page), ...accessValues(visibility), namespace: namespace ?? '' }
  return db.all(
    db.variant(name, () => memoryListQuery(table, request)),
    values,
  )
}

export const memoryListQuery = <Table extends MemoryTable>(
  table: Table,
  { namespace, page, visibility }: MemoryListRequest,
): Query<MemoryListValues, Selectable<Schema[Table]>> =>
  compile((place) => {
    const visible = isVisible(visibility, MEMORY_ACCESS, place)
    const query = from
      .selectFrom(table as MemoryTable)
      .selectAll()
      .$if(namespace !== undefined, (rows) => rows.where('namespace', '=', place('namespace')))
      .where(namespace === undefined ? visible : unindexed(visible))
      .$if(page.cursor !== undefined, (rows) => rows.where(isBeyond(place, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(place('limit'))
    return query as Compilable<unknown> as Compilable<Selectable<Schema[Table]>>
  })
