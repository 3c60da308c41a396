import type { EpochMs, MemoryConflictRecord, Page, Visibility } from '@perdure/ports'
import { type Selectable, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from, paramsFor, type Query } from '../query/compile.ts'
import type { MemoryConflictTable } from '../query/memory-schema.ts'
import { toPage } from '../query/page.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import { MEMORY_ACCESS } from './fact-filter.ts'
import { type MemoryListRequest, memoryRows } from './memory-list.ts'
import type { WriteAppliers } from './write-applier.ts'

export async function findMemoryConflict(db: Connection, { id, visibility }: { id: string; visibility: Visibility }) {
  const query = db.variant(`memory conflict ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = await db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toRecord(row)
}

export async function listMemoryConflicts(
  db: Connection,
  request: MemoryListRequest,
): Promise<Page<MemoryConflictRecord>> {
  const rows = await memoryRows(db, 'memory_conflicts', request)
  return toPage(rows, request.page, { toRecord, rankOf: (row) => row.created_at })
}

export const openMemoryConflicts = async (
  db: Connection,
  factIds: readonly string[],
): Promise<readonly MemoryConflictRecord[]> => (await db.all(OPEN_CONFLICTS_OF_FACTS, { factIds })).map(toRecord)

export const memoryConflictWrites: WriteAppliers<'conflict.open' | 'conflict.resolve'> = {
  async 'conflict.open'({ db }, { type, conflict }) {
    const { changes } = await db.run(openConflict, toRow(conflict))
    if (changes === 1) return 1
    const row = await db.get(selectConflicting, {
      id: conflict.id,
      fact: conflict.factIds[0],
      other: conflict.factIds[1],
    })
    return { type, current: row === undefined ? undefined : toRecord(row) }
  },
  async 'conflict.resolve'({ db }, { type, id, resolution: { resolvedAt, by = null, reason = null } }) {
    const { changes } = await db.run(resolveConflict, { id, resolvedAt, by, reason })
    if (changes === 1) return 1
    const row = await db.get(selectById, { id })
    return { type, current: row === undefined ? undefined : toRecord(row) }
  },
}

type ConflictRow = Selectable<MemoryConflictTable>
type NewConflictRow = MemoryConflictTable

const COLUMNS = [
  'id',
  'namespace',
  'owner',
  'fact_id',
  'other_fact_id',
  'status',
  'created_at',
  'resolved_at',
  'by',
  'reason',
] as const

const findQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, ConflictRow> =>
  compile((param) =>
    from
      .selectFrom('memory_conflicts')
      .selectAll()
      .where('id', '=', param('id'))
      .where(isVisible(visibility, MEMORY_ACCESS, param)),
  )

/** Searches both indexes of open conflicts: one by `fact_id`, one by `other_fact_id`. */
export const OPEN_CONFLICTS_OF_FACTS = compile<{ factIds: readonly string[] }, ConflictRow>((param) => ({
  compile: () =>
    sql<ConflictRow>`select * from memory_conflicts where id in (
      select id from memory_conflicts where status = 'open' and fact_id = any(${param('factIds')})
      union
      select id from memory_conflicts where status = 'open' and other_fact_id = any(${param('factIds')})
    ) order by created_at, id`.compile(from),
}))

const selectById = compile<{ id: string }, ConflictRow>((param) =>
  from.selectFrom('memory_conflicts').selectAll().where('id', '=', param('id')),
)

const selectConflicting = compile<{ id: string; fact: string; other: string }, ConflictRow>((param) =>
  from
    .selectFrom('memory_conflicts')
    .selectAll()
    .where(
      sql<boolean>`id = ${param('id')} or (status = 'open' and fact_id = ${param('fact')} and other_fact_id = ${param('other')})`,
    )
    .orderBy('id')
    .limit(sql.lit(1)),
)

const openConflict = compile<NewConflictRow, unknown>((param) =>
  from
    .insertInto('memory_conflicts')
    .values(paramsFor(param, COLUMNS))
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

const toRow = (conflict: MemoryConflictRecord): NewConflictRow => ({
  id: conflict.id,
  namespace: conflict.namespace,
  owner: conflict.owner,
  fact_id: conflict.factIds[0],
  other_fact_id: conflict.factIds[1],
  status: conflict.status,
  created_at: conflict.createdAt,
  resolved_at: conflict.resolvedAt ?? null,
  by: conflict.by ?? null,
  reason: conflict.reason ?? null,
})

const toRecord = (row: ConflictRow): MemoryConflictRecord => ({
  id: row.id,
  namespace: row.namespace,
  owner: row.owner,
  factIds: [row.fact_id, row.other_fact_id],
  status: row.status,
  createdAt: row.created_at as EpochMs,
  resolvedAt: (row.resolved_at ?? undefined) as EpochMs | undefined,
  by: row.by ?? undefined,
  reason: row.reason ?? undefined,
})
