import {
  type Activity,
  type EpochMs,
  type Page,
  type PageQuery,
  type TriggerOverview,
  type TriggerRecord,
  takeWithinPage,
} from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, rowBytes, toPage } from '../query/page.ts'
import { type TriggerRow, toTrigger } from './trigger-row.ts'

export function* findTrigger(db: Db, id: string): Program<TriggerRecord | undefined> {
  const row = yield* db.get(SELECT_BY_ID, { id })
  return row === undefined ? undefined : toTrigger(row)
}

export function* listTriggers(db: Db, page: PageQuery): Program<Page<TriggerRecord>> {
  const query = db.variant(`triggers ${pageVariant(page)}`, () => triggerListQuery(page))
  return toPage(yield* db.each(query, pageValues(page)), page, { toRecord: toTrigger, rankOf: (row) => row.created_at })
}

export function* dueTriggers(db: Db, until: { now: EpochMs; limit: number }): Program<readonly TriggerRecord[]> {
  return (yield* db.all(TRIGGER_QUERIES.due, until)).map(toTrigger)
}

export interface EventTriggers {
  readonly event: string
  readonly after?: string | undefined
  readonly limit: number
}

export function* triggersOfEvent(
  db: Db,
  { event, after = '', limit }: EventTriggers,
): Program<readonly TriggerRecord[]> {
  const rows = yield* db.each(TRIGGER_QUERIES.ofEvent, { event, after, limit })
  return takeWithinPage(rows, limit, rowBytes).items.map(toTrigger)
}

export interface HookTriggers {
  readonly hook: string
  readonly after?: string | undefined
  readonly limit: number
}

export function* triggersOfHook(db: Db, { hook, after = '', limit }: HookTriggers): Program<readonly TriggerRecord[]> {
  const rows = yield* db.each(TRIGGER_QUERIES.ofHook, { event: hook, after, limit })
  return takeWithinPage(rows, limit, rowBytes).items.map(toTrigger)
}

export function* triggerOverview(db: Db): Program<TriggerOverview> {
  const { active, total } = (yield* db.get(COUNTS, {})) ?? { active: 0, total: 0 }
  const nextDueAt = (yield* db.get(TRIGGER_QUERIES.nextDue, {}))?.due_at as EpochMs | undefined
  return { active, disabled: total - active, nextDueAt }
}

export function* lastActivity(db: Db, sessionId: string | undefined): Program<Activity> {
  if (sessionId === undefined) {
    const isBusy = (yield* db.get(TRIGGER_QUERIES.busy, {})) !== undefined
    return activityOf(isBusy, (yield* db.get(TRIGGER_QUERIES.lastEnd, {}))?.completed_at)
  }
  const isBusy = (yield* db.get(TRIGGER_QUERIES.busySession, { sessionId })) !== undefined
  return activityOf(isBusy, (yield* db.get(TRIGGER_QUERIES.lastEndOfSession, { sessionId }))?.completed_at)
}

const activityOf = (isBusy: boolean, endedAt: number | null | undefined): Activity =>
  typeof endedAt === 'number' ? { isBusy, endedAt: endedAt as EpochMs } : { isBusy }

const SELECT_BY_ID = compile<{ id: string }, TriggerRow>((param) =>
  from.selectFrom('triggers').selectAll().where('id', '=', param('id')),
)

const triggerListQuery = (page: PageQuery): Query<PageValues, TriggerRow> =>
  compile((param, dialect) =>
    dialect.bounded(
      from
        .selectFrom('triggers')
        .selectAll()
        .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
        .orderBy('created_at', page.order)
        .orderBy('id', page.order)
        .limit(param('limit'))
        .$castTo<TriggerRow>(),
      ['definition'],
    ),
  )

const COUNTS = compile<object, { active: number; total: number }>(() =>
  from
    .selectFrom('triggers')
    .select([sql<number>`coalesce(sum(is_active), 0)`.as('active'), (eb) => eb.fn.countAll<number>().as('total')]),
)

const callerRuns = from.selectFrom('runs').where('trigger_id', 'is', null).where('parent_run_id', 'is', null)
const IS_BUSY = sql<boolean>`(status = 'queued' or status = 'running')`

/** The active triggers of a kind that one event, or the deliveries of one hook, fire. */
const activeOf = (kind: 'event' | 'webhook') =>
  compile<{ event: string; after: string; limit: number }, TriggerRow>((param) =>
    from
      .selectFrom('triggers')
      .selectAll()
      .where('event', '=', param('event'))
      .where(sql<boolean>`is_active = 1 and kind = ${sql.lit(kind)}`)
      .where('id', '>', param('after'))
      .orderBy('id')
      .limit(param('limit')),
  )

/** The queries of the trigger daemon; each uses an index. */
export const TRIGGER_QUERIES = {
  due: compile<{ now: number; limit: number }, TriggerRow>((param) =>
    from
      .selectFrom('triggers')
      .selectAll()
      .where('due_at', '<=', param('now'))
      .orderBy('due_at')
      .orderBy('id')
      .limit(param('limit')),
  ),
  nextDue: compile<object, { due_at: number | null }>(() =>
    from
      .selectFrom('triggers')
      .select('due_at')
      .where('due_at', 'is not', null)
      .orderBy('due_at')
      .limit((eb) => eb.lit(1)),
  ),
  ofEvent: activeOf('event'),
  ofHook: activeOf('webhook'),
  busy: compile<object, object>((_, { rowId }) =>
    callerRuns
      .select(rowId)
      .where(IS_BUSY)
      .limit((eb) => eb.lit(1)),
  ),
  lastEnd: compile<object, { completed_at: number | null }>(() =>
    callerRuns
      .select('completed_at')
      .where('completed_at', 'is not', null)
      .orderBy('completed_at', 'desc')
      .limit((eb) => eb.lit(1)),
  ),
  busySession: compile<{ sessionId: string }, object>((param, { rowId }) =>
    callerRuns
      .select(rowId)
      .where('session_id', '=', param('sessionId'))
      .where(IS_BUSY)
      .limit((eb) => eb.lit(1)),
  ),
  lastEndOfSession: compile<{ sessionId: string }, { completed_at: number | null }>((param, dialect) =>
    callerRuns
      .select(sql<number | null>`max(${dialect.hidden('completed_at')})`.as('completed_at'))
      .where('session_id', '=', param('sessionId')),
  ),
}
