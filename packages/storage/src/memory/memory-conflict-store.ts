import type { MemoryConflictRecord, Page, Visibility } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, paramsFor, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { toPage } from '../query/page.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import type { WriteAppliers } from '../transaction.ts'
import { MEMORY_ACCESS } from './fact-filter.ts'
import {
  MEMORY_CONFLICT_COLUMNS,
  type MemoryConflictRow,
  toMemoryConflict,
  toMemoryConflictRow,
} from './memory-conflict-row.ts'
import { type MemoryListRequest, memoryRows } from './memory-list.ts'

export function* findMemoryConflict(db: Db, { id, visibility }: { id: string; visibility: Visibility }) {
  const query = db.variant(`memory conflict ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = yield* db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toMemoryConflict(row)
}

export function* listMemoryConflicts(db: Db, request: MemoryListRequest): Program<Page<MemoryConflictRecord>> {
  const rows = yield* memoryRows(db, 'memory_conflicts', request)
  return toPage(rows, request.page, { toRecord: toMemoryConflict, rankOf: (row) => row.created_at })
}

export function* openMemoryConflicts(db: Db, factIds: readonly string[]): Program<readonly MemoryConflictRecord[]> {
  return (yield* db.all(OPEN_CONFLICTS_OF_FACTS, { factIds })).map(toMemoryConflict)
}

export const memoryConflictWrites: WriteAppliers<'conflict.open' | 'conflict.resolve'> = {
  *'conflict.open'({ db }, { type, conflict }) {
    const changes = yield* db.run(openConflict, toMemoryConflictRow(conflict))
    if (changes === 1) return 1
    const row = yield* db.get(selectConflicting, {
      id: conflict.id,
      fact: conflict.factIds[0],
      other: conflict.factIds[1],
    })
    return { type, current: row === undefined ? undefined : toMemoryConflict(row) }
  },
  *'conflict.resolve'({ db }, { type, id, resolution: { resolvedAt, by = null, reason = null } }) {
    const changes = yield* db.run(resolveConflict, { id, resolvedAt, by, reason })
    if (changes === 1) return 1
    const row = yield* db.get(selectById, { id })
    return { type, current: row === undefined ? undefined : toMemoryConflict(row) }
  },
}

const findQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, MemoryConflictRow> =>
  compile((param, dialect) =>
    from
      .selectFrom('memory_conflicts')
      .selectAll()
      .where('id', '=', param('id'))
      .where(isVisible(visibility, MEMORY_ACCESS, { param, dialect })),
  )

/** Searches both indexes of open conflicts: one by `fact_id`, one by `other_fact_id`. */
export const OPEN_CONFLICTS_OF_FACTS = compile<{ factIds: readonly string[] }, MemoryConflictRow>((param, dialect) => {
  const rowId = sql.ref(dialect.rowId)
  return sql`select * from memory_conflicts where ${rowId} in (
    select ${rowId} from memory_conflicts where status = 'open' and ${dialect.isOneOf('fact_id', param('factIds'))}
    union
    select ${rowId} from memory_conflicts where status = 'open' and ${dialect.isOneOf('other_fact_id', param('factIds'))}
  ) order by created_at, id`
})

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
