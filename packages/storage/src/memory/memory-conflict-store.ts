import type { MemoryConflictStore } from '@perdure/ports'
import { sql } from 'kysely'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { toPage } from '../query/page.ts'
import { insertInto, selectById, visibleRow } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { MEMORY_ACCESS } from './fact-filter.ts'
import {
  MEMORY_CONFLICT_COLUMNS,
  type MemoryConflictRow,
  toMemoryConflict,
  toMemoryConflictRow,
} from './memory-conflict-row.ts'
import { memoryRows } from './memory-list.ts'

export const memoryConflictReads: Reads<MemoryConflictStore> = {
  *find(db, id, visibility) {
    const row = yield* findVisible(db, id, visibility)
    return row && toMemoryConflict(row)
  },
  *list(db, namespace, page, visibility) {
    const rows = yield* memoryRows(db, 'memory_conflicts', { namespace, page, visibility })
    return toPage(rows, page, { toRecord: toMemoryConflict, rankOf: (row) => row.created_at })
  },
  *listOpenByFacts(db, factIds) {
    return (yield* db.all(OPEN_CONFLICTS_OF_FACTS, { factIds })).map(toMemoryConflict)
  },
}

export const memoryConflictWrites: WriteAppliers<WritesOf<'conflict'>> = {
  *'conflict.open'({ db }, { type, conflict }) {
    const changes = yield* db.run(openConflict, toMemoryConflictRow(conflict))
    if (changes === 1) return 1
    const [fact, other] = conflict.factIds
    const row = yield* db.get(selectConflicting, { id: conflict.id, fact, other })
    return { type, current: row && toMemoryConflict(row) }
  },
  *'conflict.resolve'({ db }, { type, id, resolution: { resolvedAt, by = null, reason = null } }) {
    const changes = yield* db.run(resolveConflict, { id, resolvedAt, by, reason })
    if (changes === 1) return 1
    const row = yield* db.get(selectConflict, { id })
    return { type, current: row && toMemoryConflict(row) }
  },
}

const findVisible = visibleRow<MemoryConflictRow>('memory_conflicts', MEMORY_ACCESS)

/** Searches both indexes of open conflicts: one by `fact_id`, one by `other_fact_id`. */
export const OPEN_CONFLICTS_OF_FACTS = compile<{ factIds: readonly string[] }, MemoryConflictRow>((param, dialect) => {
  const rowId = sql.ref(dialect.rowId)
  return sql`select * from memory_conflicts where ${rowId} in (
    select ${rowId} from memory_conflicts where status = 'open' and ${dialect.isOneOf('fact_id', param('factIds'))}
    union
    select ${rowId} from memory_conflicts where status = 'open' and ${dialect.isOneOf('other_fact_id', param('factIds'))}
  ) order by created_at, id`
})

const selectConflict = selectById<MemoryConflictRow>('memory_conflicts')

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

const openConflict = insertInto<MemoryConflictRow>('memory_conflicts', MEMORY_CONFLICT_COLUMNS)

const resolveConflict = compile<{ id: string; resolvedAt: number; by: string | null; reason: string | null }, unknown>(
  (param) =>
    from
      .updateTable('memory_conflicts')
      .set({ status: 'resolved', resolved_at: param('resolvedAt'), by: param('by'), reason: param('reason') })
      .where('id', '=', param('id'))
      .where('status', '=', 'open'),
)
