import type { FireRecord, FireStatus, FireStore, PageQuery } from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { listQuery, selectById } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { FIRES, type FireRow } from './fire-row.ts'

export interface FireListRequest {
  readonly filter: { readonly triggerId: string; readonly status?: FireStatus | undefined }
  readonly page: PageQuery
}

export const fireReads: Reads<FireStore> = {
  *find(db, id) {
    const row = yield* db.get(SELECT_FIRE, { id })
    return row && FIRES.toRecord(row)
  },
  *list(db, filter, page) {
    const name = `fires ${filter.status} ${pageVariant(page)}`
    const query = db.variant(name, () => fireListQuery({ filter, page }))
    const rows = yield* db.each(query, { triggerId: filter.triggerId, ...pageValues(page) })
    return toPage(rows, page, { toRecord: FIRES.toRecord, rankOf: (row) => row.created_at })
  },
  *firstPending(db, limit) {
    return (yield* db.all(FIRST_PENDING, { limit })).map(FIRES.toRecord)
  },
}

/** Finds the stored fire with the same trigger and scheduled time. */
export function* findOccurrence(db: Db, { triggerId, scheduledAt }: FireRecord): Program<FireRecord | undefined> {
  const row = yield* db.get(SELECT_OCCURRENCE, { triggerId, scheduledAt })
  return row && FIRES.toRecord(row)
}

const SELECT_FIRE = selectById<FireRow>('trigger_fires')

const SELECT_OCCURRENCE = compile<{ triggerId: string; scheduledAt: number }, FireRow>((param) =>
  from
    .selectFrom('trigger_fires')
    .selectAll()
    .where('trigger_id', '=', param('triggerId'))
    .where('scheduled_at', '=', param('scheduledAt'))
    .where(sql<boolean>`cause = 'schedule'`),
)

/** The status is a literal, so that the partial indexes apply. */
export const fireListQuery = ({
  filter: { status },
  page,
}: FireListRequest): Query<PageValues & { readonly triggerId: string }, FireRow> =>
  listQuery('trigger_fires', {
    page,
    texts: ['input'],
    where: (param) => [
      sql<SqlBool>`trigger_id = ${param('triggerId')}`,
      ...(status === undefined ? [] : [sql<SqlBool>`status = ${sql.lit(status)}`]),
    ],
  })

export const FIRST_PENDING = compile<{ limit: number }, FireRow>((param) =>
  from
    .selectFrom('trigger_fires')
    .selectAll()
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('trigger_fires')
        .select((inner) => inner.fn.min('id').as('id'))
        .where(sql<boolean>`status = 'pending'`)
        .groupBy('trigger_id'),
    )
    .orderBy('id')
    .limit(param('limit')),
)
