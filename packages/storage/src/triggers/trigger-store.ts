import { type Activity, type EpochMs, type PageQuery, type TriggerStore, takeWithinPage } from '@perdure/ports'
import { sql } from 'kysely'
import { compile, type Query } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, rowBytes, toPage } from '../query/page.ts'
import { listQuery, selectById, selectFirst, selectRows } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { type TriggerRow, toTrigger } from './trigger-row.ts'

export const triggerReads: Reads<TriggerStore> = {
  *find(db, id) {
    const row = yield* db.get(SELECT_TRIGGER, { id })
    return row && toTrigger(row)
  },
  *list(db, page) {
    const query = db.variant(`triggers ${pageVariant(page)}`, () => triggerListQuery(page))
    const rows = yield* db.each(query, pageValues(page))
    return toPage(rows, page, { toRecord: toTrigger, rankOf: (row) => row.created_at })
  },
  *due(db, now, limit) {
    return (yield* db.all(TRIGGER_QUERIES.due, { now, limit })).map(toTrigger)
  },
  *listByEvent(db, event, { after = '', limit }) {
    const rows = yield* db.each(TRIGGER_QUERIES.ofEvent, { event, after, limit })
    return takeWithinPage(rows, limit, rowBytes).items.map(toTrigger)
  },
  *listByHook(db, hook, { after = '', limit }) {
    const rows = yield* db.each(TRIGGER_QUERIES.ofHook, { event: hook, after, limit })
    return takeWithinPage(rows, limit, rowBytes).items.map(toTrigger)
  },
  *overview(db) {
    const { active, total } = (yield* db.get(COUNTS, {})) ?? { active: 0, total: 0 }
    const nextDueAt = (yield* db.get(TRIGGER_QUERIES.nextDue, {}))?.due_at as EpochMs | undefined
    return { active, disabled: total - active, nextDueAt }
  },
  *lastActivity(db, sessionId) {
    if (sessionId === undefined) {
      const isBusy = (yield* db.get(TRIGGER_QUERIES.busy, {})) !== undefined
      return activityOf(isBusy, (yield* db.get(TRIGGER_QUERIES.lastEnd, {}))?.completed_at)
    }
    const isBusy = (yield* db.get(TRIGGER_QUERIES.busySession, { sessionId })) !== undefined
    return activityOf(isBusy, (yield* db.get(TRIGGER_QUERIES.lastEndOfSession, { sessionId }))?.completed_at)
  },
}

const activityOf = (isBusy: boolean, endedAt: number | null | undefined): Activity =>
  typeof endedAt === 'number' ? { isBusy, endedAt: endedAt as EpochMs } : { isBusy }

const SELECT_TRIGGER = selectById<TriggerRow>('triggers')

const triggerListQuery = (page: PageQuery): Query<PageValues, TriggerRow> =>
  listQuery('triggers', { page, texts: ['definition'] })

const COUNTS = compile<object, { active: number; total: number }>(() =>
  from
    .selectFrom('triggers')
    .select([sql<number>`coalesce(sum(is_active), 0)`.as('active'), (eb) => eb.fn.countAll<number>().as('total')]),
)

const callerRuns = from.selectFrom('runs').where('trigger_id', 'is', null).where('parent_run_id', 'is', null)
const IS_BUSY = sql<boolean>`(status = 'queued' or status = 'running')`

/** The active triggers of a kind that one event, or the deliveries of one hook, fire. */
const activeOf = (kind: 'event' | 'webhook') =>
  selectRows<{ event: string; after: string; limit: number }, TriggerRow>('triggers', {
    where: (param) => [
      sql`event = ${param('event')}`,
      sql`is_active = 1 and kind = ${sql.lit(kind)}`,
      sql`id > ${param('after')}`,
    ],
    order: ['id'],
  })

/** The queries of the trigger daemon; each uses an index. */
export const TRIGGER_QUERIES = {
  due: selectRows<{ now: number; limit: number }, TriggerRow>('triggers', {
    where: (param) => [sql`due_at <= ${param('now')}`],
    order: ['due_at', 'id'],
  }),
  nextDue: selectFirst('due_at', 'triggers'),
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
