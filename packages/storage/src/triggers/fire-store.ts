import type { FireRecord, FireStatus, Page, PageQuery } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type FireRow, toFire } from './fire-row.ts'

export interface FireListRequest {
  readonly filter: { readonly triggerId: string; readonly status?: FireStatus | undefined }
  readonly page: PageQuery
}

export function* findFire(db: Db, id: string): Program<FireRecord | undefined> {
  const row = yield* db.get(SELECT_BY_ID, { id })
  return row === undefined ? undefined : toFire(row)
}

/** Finds the stored fire with the same trigger and scheduled time. */
export function* findOccurrence(db: Db, { triggerId, scheduledAt }: FireRecord): Program<FireRecord | undefined> {
  const row = yield* db.get(SELECT_OCCURRENCE, { triggerId, scheduledAt })
  return row === undefined ? undefined : toFire(row)
}

export function* listFires(db: Db, request: FireListRequest): Program<Page<FireRecord>> {
  const { filter, page } = request
  const query = db.variant(`fires ${filter.status} ${pageVariant(page)}`, () => fireListQuery(request))
  const rows = yield* db.each(query, { triggerId: filter.triggerId, ...pageValues(page) })
  return toPage(rows, page, { toRecord: toFire, rankOf: (row) => row.created_at })
}

export function* firstPendingFires(db: Db, limit: number): Program<readonly FireRecord[]> {
  return (yield* db.all(FIRST_PENDING, { limit })).map(toFire)
}

const SELECT_BY_ID = compile<{ id: string }, FireRow>((param) =>
  from.selectFrom('trigger_fires').selectAll().where('id', '=', param('id')),
)

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
  compile((param, dialect) =>
    dialect.bounded(
      from
        .selectFrom('trigger_fires')
        .selectAll()
        .where('trigger_id', '=', param('triggerId'))
        .$if(status !== undefined, (query) => query.where(sql<boolean>`status = ${sql.lit(status)}`))
        .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
        .orderBy('created_at', page.order)
        .orderBy('id', page.order)
        .limit(param('limit'))
        .$castTo<FireRow>(),
      ['input'],
    ),
  )

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
