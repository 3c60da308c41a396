import { LANE_CLOCK_TOLERANCE_MS, type LaneSlot, type LaneStore, type TakenSlot } from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { Reads } from '../reads.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { LANES, type LaneRow } from './lane-row.ts'

/** Precedes every slot. */
const BEFORE_ALL = { lane: '', slot: -1 }

export const laneReads: Reads<LaneStore> = {
  *taken(db, { now, after = BEFORE_ALL, limit }) {
    return (yield* db.all(TAKEN_SLOTS, { now, lane: after.lane, slot: after.slot, limit })).map(LANES.toRecord)
  },
}

export const laneWrites: WriteAppliers<WritesOf<'lane'>> = {
  *'lane.take'({ db }, { type, runId, slots, now }) {
    for (const slot of slots) {
      const changes = yield* db.run(takeSlot, { ...LANES.toRow({ ...slot, runId }), now })
      if (changes !== 1) return { type, current: yield* findSlot(db, slot) }
    }
    return slots.length
  },
  *'lane.prune'({ db }, { now, limit }) {
    return yield* db.run(PRUNE_SLOTS, { now, limit })
  },
}

/** Frees the slots that the run holds without a time at which they become free. */
export function* freeHeldSlots(db: Db, runId: string): Program<void> {
  yield* db.run(FREE_HELD_SLOTS, { id: runId })
}

function* findSlot(db: Db, { lane, slot }: LaneSlot): Program<TakenSlot | undefined> {
  const row = yield* db.get(SELECT_SLOT, { lane, slot })
  return row && LANES.toRecord(row)
}

type SlotValues = Pick<LaneRow, 'lane' | 'slot'>

export const TAKEN_SLOTS = compile<SlotValues & { now: number; limit: number }, LaneRow>((param, { hidden }) =>
  from
    .selectFrom('lanes')
    .selectAll()
    .where(sql<SqlBool>`(lane, slot) > (${param('lane')}, ${param('slot')})`)
    .where(sql<SqlBool>`(free_at is null or ${hidden('free_at')} > ${param('now')})`)
    .orderBy('lane')
    .orderBy('slot')
    .limit(param('limit')),
)

export const SELECT_SLOT = compile<SlotValues, LaneRow>((param) =>
  from.selectFrom('lanes').selectAll().where('lane', '=', param('lane')).where('slot', '=', param('slot')),
)

/** Whether the slot was taken before the clock was set back. */
const IS_BEFORE_SET_BACK = sql`lanes.free_at > excluded.free_at + ${sql.lit(LANE_CLOCK_TOLERANCE_MS)}`

/** Changes no row if another run has the slot and it is not free yet. */
const takeSlot = compile<LaneRow & { now: number }, unknown>((param) =>
  from
    .insertInto('lanes')
    .values(paramsFor(param, LANES.columns))
    .onConflict((conflict) =>
      conflict
        .columns(['lane', 'slot'])
        .doUpdateSet({ run_id: sql`excluded.run_id`, free_at: sql`excluded.free_at` })
        .where(
          sql<SqlBool>`lanes.run_id = excluded.run_id or lanes.free_at <= ${param('now')} or ${IS_BEFORE_SET_BACK}`,
        ),
    ),
)

export const FREE_HELD_SLOTS = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('lanes').where('run_id', '=', param('id')).where('free_at', 'is', null),
)

export const PRUNE_SLOTS = compile<{ now: number; limit: number }, unknown>((param, { earlierClock, locksRows }) => {
  const free = sql`free_at <= ${earlierClock(param('now'))} order by free_at limit ${param('limit')}`
  return locksRows
    ? sql`delete from lanes where ctid = any(array(select ctid from lanes where ${free} for update))`
    : sql`delete from lanes where (lane, slot) in (select lane, slot from lanes where ${free})`
})
