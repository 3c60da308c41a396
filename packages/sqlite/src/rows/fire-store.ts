import type { EpochMs, FireRecord, FireStatus, JsonText, Page, PageQuery } from '@perdure/ports'
import { type Selectable, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from './page.ts'
import { compile, from, type Query } from './query.ts'
import type { FireTable } from './schema.ts'

export interface FireListRequest {
  readonly filter: { readonly triggerId: string; readonly status?: FireStatus | undefined }
  readonly page: PageQuery
}

export function findFire(db: Connection, id: string): FireRecord | undefined {
  const row = db.get(SELECT_BY_ID, { id })
  return row === undefined ? undefined : toRecord(row)
}

/** The scheduled fire of this occurrence. */
export function findOccurrence(db: Connection, { triggerId, scheduledAt }: FireRecord): FireRecord | undefined {
  const row = db.get(SELECT_OCCURRENCE, { triggerId, scheduledAt })
  return row === undefined ? undefined : toRecord(row)
}

export function listFires(db: Connection, request: FireListRequest): Page<FireRecord> {
  const { filter, page } = request
  const query = db.variant(`fires ${filter.status} ${pageVariant(page)}`, () => fireListQuery(request))
  const rows = db.all(query, { triggerId: filter.triggerId, ...pageValues(page) })
  return toPage(rows, page, { toRecord, rankOf: (row) => row.created_at })
}

export const firstPendingFires = (db: Connection, limit: number): readonly FireRecord[] =>
  db.all(FIRST_PENDING, { limit }).map(toRecord)

type FireRow = Selectable<FireTable>

const SELECT_BY_ID = compile<{ id: string }, FireRow>((place) =>
  from.selectFrom('trigger_fires').selectAll().where('id', '=', place('id')),
)

const SELECT_OCCURRENCE = compile<{ triggerId: string; scheduledAt: number }, FireRow>((place) =>
  from
    .selectFrom('trigger_fires')
    .selectAll()
    .where('trigger_id', '=', place('triggerId'))
    .where('scheduled_at', '=', place('scheduledAt'))
    .where(sql<boolean>`cause = 'schedule'`),
)

/** The status stands in the query as a literal, so that the partial indexes apply. */
export const fireListQuery = ({
  filter: { status },
  page,
}: FireListRequest): Query<PageValues & { readonly triggerId: string }, FireRow> =>
  compile((place) =>
    from
      .selectFrom('trigger_fires')
      .selectAll()
      .where('trigger_id', '=', place('triggerId'))
      .$if(status !== undefined, (query) => query.where(sql<boolean>`status = ${sql.lit(status)}`))
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(place, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(place('limit')),
  )

export const FIRST_PENDING = compile<{ limit: number }, FireRow>((place) =>
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
    .limit(place('limit')),
)

const toRecord = (row: FireRow): FireRecord => ({
  id: row.id,
  triggerId: row.trigger_id,
  scheduledAt: row.scheduled_at as EpochMs,
  cause: row.cause,
  status: row.status,
  input: (row.input ?? undefined) as JsonText | undefined,
  firedAt: (row.fired_at ?? undefined) as EpochMs | undefined,
  runId: row.run_id ?? undefined,
  reason: row.reason ?? undefined,
  createdAt: row.created_at as EpochMs,
})
