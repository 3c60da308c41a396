import type { FireRecord, FireStatus, Page, PageQuery } from '@perdure/ports'
import {
  type FireRow,
  isBeyond,
  type PageValues,
  pageValues,
  pageVariant,
  type Query,
  toFire,
  toPage,
} from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'

export interface FireListRequest {
  readonly filter: { readonly triggerId: string; readonly status?: FireStatus | undefined }
  readonly page: PageQuery
}

export function findFire(db: Connection, id: string): FireRecord | undefined {
  const row = db.get(SELECT_BY_ID, { id })
  return row === undefined ? undefined : toFire(row)
}

/** Finds the stored fire with the same trigger and scheduled time. */
export function findOccurrence(db: Connection, { triggerId, scheduledAt }: FireRecord): FireRecord | undefined {
  const row = db.get(SELECT_OCCURRENCE, { triggerId, scheduledAt })
  return row === undefined ? undefined : toFire(row)
}

export function listFires(db: Connection, request: FireListRequest): Page<FireRecord> {
  const { filter, page } = request
  const query = db.variant(`fires ${filter.status} ${pageVariant(page)}`, () => fireListQuery(request))
  const rows = db.each(query, { triggerId: filter.triggerId, ...pageValues(page) })
  return toPage(rows, page, { toRecord: toFire, rankOf: (row) => row.created_at })
}

export const firstPendingFires = (db: Connection, limit: number): readonly FireRecord[] =>
  db.all(FIRST_PENDING, { limit }).map(toFire)

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
  compile((param) =>
    from
      .selectFrom('trigger_fires')
      .selectAll()
      .where('trigger_id', '=', param('triggerId'))
      .$if(status !== undefined, (query) => query.where(sql<boolean>`status = ${sql.lit(status)}`))
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit')),
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
