import type { MemoryConflictRecord, Page, Visibility } from '@perdure/ports'
import {
  MEMORY_CONFLICT_COLUMNS,
  type MemoryConflictRow,
  paramsFor,
  type Query,
  toMemoryConflict,
  toMemoryConflictRow,
  toPage,
} from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import { MEMORY_ACCESS } from './fact-filter.ts'
import { type MemoryListRequest, memoryRows } from './memory-list.ts'
import type { WriteAppliers } from './write-applier.ts'

export function findMemoryConflict(db: Connection, { id, visibility }: { id: string; visibility: Visibility }) {
  const query = db.variant(`memory conflict ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toMemoryConflict(row)
}

export function listMemoryConflicts(db: Connection, request: MemoryListRequest): Page<MemoryConflictRecord> {
  const rows = memoryRows(db, 'memory_conflicts', request)
  return toPage(rows, request.page, { toRecord: toMemoryConflict, rankOf: (row) => row.created_at })
}

export const openMemoryConflicts = (db: Connection, factIds: readonly string[]): readonly MemoryConflictRecord[] =>
  db.all(OPEN_CONFLICTS_OF_FACTS, { factIds: JSON.stringify(factIds) }).map(toMemoryConflict)

export const memoryConflictWrites: WriteAppliers<'conflict.open' | 'conflict.resolve'> = {
  'conflict.open'({ db }, { type, conflict }) {
    const { changes } = db.run(openConflict, toMemoryConflictRow(conflict))
    if (changes === 1) return 1
    const row = db.get(selectConflicting, { id: conflict.id, fact: conflict.factIds[0], other: conflict.factIds[1] })
    return { type, current: row === undefined ? undefined : toMemoryConflict(row) }
  },
  'conflict.resolve'({ db }, { type, id, resolution: { resolvedAt, by = null, reason = null } }) {
    const { changes } = db.run(resolveConflict, { id, resolvedAt, by, reason })
    if (changes === 1) return 1
    const row = db.get(selectById, { id })
    return { type, current: row === undefined ? undefined : toMemoryConflict(row) }
  },
}

const findQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, MemoryConflictRow> =>
  compile((param) =>
    from
      .selectFrom('memory_conflicts')
      .selectAll()
      .where('id', '=', param('id'))
      .where(isVisible(visibility, MEMORY_ACCESS, param)),
  )

/** Searches both indexes of open conflicts: one by `fact_id`, one by `other_fact_id`. */
export const OPEN_CONFLICTS_OF_FACTS = compile<{ factIds: string }, MemoryConflictRow>((param) => ({
  compile: () =>
    sql<MemoryConflictRow>`select * from memory_conflicts where key in (
      select key from memory_conflicts where status = 'open' and fact_id in (select value from json_each(${param('factIds')}))
      union
      select key from memory_conflicts where status = 'open' and other_fact_id in (select value from json_each(${param('factIds')}))
    ) order by created_at, id`.compile(from),
}))

const selectById = compile<{ id: string }, MemoryConflictRow>((param) =>
  from.selectFrom('memory_conflicts').selectAll().where('id', '=', param('id')),
)

const selectConflicting = compile<{ id: string; fact: string; other: string }, MemoryConflictRow>((param) =>
  from
    .selectFrom('memory_conflicts')
    .selectAll()
    .where(
      sql<boolean>`id = ${param('id')} or (status = 'open' and fact_id = ${param('fact')} and other_fact_id = ${param('other')})`,
    )
    .orderBy('id')
    .limit(sql.lit(1)),
)

const openConflict = compile<MemoryConflictRow, unknown>((param) =>
  from
    .insertInto('memory_conflicts')
    .values(paramsFor(param, MEMORY_CONFLICT_COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

const resolveConflict = compile<{ id: string; resolvedAt: number; by: string | null; reason: string | null }, unknown>(
  (param) =>
    from
      .updateTable('memory_conflicts')
      .set({ status: 'resolved', resolved_at: param('resolvedAt'), by: param('by'), reason: param('reason') })
      .where('id', '=', param('id'))
      .where('status', '=', 'open'),
)
