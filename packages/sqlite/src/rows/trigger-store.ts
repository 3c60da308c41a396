import type { Activity, EpochMs, Page, PageQuery, TriggerOverview, TriggerRecord } from '@perdure/ports'
import { type Selectable, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from './page.ts'
import { compile, from, type Query } from './query.ts'
import type { TriggerTable } from './schema.ts'

export function findTrigger(db: Connection, id: string): TriggerRecord | undefined {
  const row = db.get(SELECT_BY_ID, { id })
  return row === undefined ? undefined : toRecord(row)
}

export function listTriggers(db: Connection, page: PageQuery): Page<TriggerRecord> {
  const query = db.variant(`triggers ${pageVariant(page)}`, () => triggerListQuery(page))
  return toPage(db.all(query, pageValues(page)), page, { toRecord, rankOf: (row) => row.created_at })
}

export const dueTriggers = (db: Connection, until: { now: EpochMs; limit: number }): readonly TriggerRecord[] =>
  db.all(TRIGGER_QUERIES.due, until).map(toRecord)

export const triggersOfEvent = (db: Connection, event: string): readonly TriggerRecord[] =>
  db.all(TRIGGER_QUERIES.ofEvent, { event }).map(toRecord)

export function triggerOverview(db: Connection): TriggerOverview {
  const { active, total } = db.get(COUNTS, {}) ?? { active: 0, total: 0 }
  const nextDueAt = db.get(TRIGGER_QUERIES.nextDue, {})?.due_at as EpochMs | undefined
  return { active, disabled: total - active, nextDueAt }
}

export function lastActivity(db: Connection, sessionId: string | undefined): Activity {
  if (sessionId === undefined) {
    const isBusy = db.get(TRIGGER_QUERIES.busy, {}) !== undefined
    return activityOf(isBusy, db.get(TRIGGER_QUERIES.lastEnd, {})?.completed_at)
  }
  const isBusy = db.get(TRIGGER_QUERIES.busySession, { sessionId }) !== undefined
  return activityOf(isBusy, db.get(TRIGGER_QUERIES.lastEndOfSession, { sessionId })?.completed_at)
}

const activityOf = (isBusy: boolean, endedAt: number | null | undefined): Activity =>
  typeof endedAt === 'number' ? { isBusy, endedAt: endedAt as EpochMs } : { isBusy }

type TriggerRow = Selectable<TriggerTable>

const SELECT_BY_ID = compile<{ id: string }, TriggerRow>((place) =>
  from.selectFrom('triggers').selectAll().where('id', '=', place('id')),
)

const triggerListQuery = (page: PageQuery): Query<PageValues, TriggerRow> =>
  compile((place) =>
    from
      .selectFrom('triggers')
      .selectAll()
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(place, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(place('limit')),
  )

const COUNTS = compile<object, { active: number; total: number }>(() =>
  from
    .selectFrom('triggers')
    .select([sql<number>`coalesce(sum(is_active), 0)`.as('active'), (eb) => eb.fn.countAll<number>().as('total')]),
)

const asked = from.selectFrom('runs').where('trigger_id', 'is', null).where('parent_run_id', 'is', null)
const IS_BUSY = sql<boolean>`(status = 'queued' or status = 'running')`

/** The queries of the daemon, each over an index. */
export const TRIGGER_QUERIES = {
  due: compile<{ now: number; limit: number }, TriggerRow>((place) =>
    from
      .selectFrom('triggers')
      .selectAll()
      .where('due_at', '<=', place('now'))
      .orderBy('due_at')
      .orderBy('id')
      .limit(place('limit')),
  ),
  nextDue: compile<object, { due_at: number | null }>(() =>
    from
      .selectFrom('triggers')
      .select('due_at')
      .where('due_at', 'is not', null)
      .orderBy('due_at')
      .limit((eb) => eb.lit(1)),
  ),
  ofEvent: compile<{ event: string }, TriggerRow>((place) =>
    from
      .selectFrom('triggers')
      .selectAll()
      .where('event', '=', place('event'))
      .where(sql<boolean>`is_active = 1 and kind = 'event'`)
      .orderBy('id'),
  ),
  busy: compile<object, { key: number }>(() =>
    asked
      .select('key')
      .where(IS_BUSY)
      .limit((eb) => eb.lit(1)),
  ),
  lastEnd: compile<object, { completed_at: number | null }>(() =>
    asked
      .select('completed_at')
      .where('completed_at', 'is not', null)
      .orderBy('completed_at', 'desc')
      .limit((eb) => eb.lit(1)),
  ),
  busySession: compile<{ sessionId: string }, { key: number }>((place) =>
    asked
      .select('key')
      .where('session_id', '=', place('sessionId'))
      .where(IS_BUSY)
      .limit((eb) => eb.lit(1)),
  ),
  lastEndOfSession: compile<{ sessionId: string }, { completed_at: number | null }>((place) =>
    asked
      .select(sql<number | null>`max(+completed_at)`.as('completed_at'))
      .where('session_id', '=', place('sessionId')),
  ),
}

const toRecord = (row: TriggerRow): TriggerRecord => ({
  ...JSON.parse(row.definition),
  id: row.id,
  kind: row.kind,
  event: row.event ?? undefined,
  dueAt: (row.due_at ?? undefined) as EpochMs | undefined,
  lastFireId: row.last_fire_id ?? undefined,
  lastStatus: row.last_status ?? undefined,
  version: row.version,
  createdAt: row.created_at as EpochMs,
})
