import type { StoredResponse } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { pruneQuery } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import {
  IDEMPOTENCY_COLUMNS,
  type IdempotencyRow,
  RESPONSES,
  type ResponseColumns,
  toIdempotencyRow,
  toResponseRow,
} from './idempotency-row.ts'
import { IS_PENDING_NON_RUN_ANSWER, idempotencyReads } from './idempotency-store.ts'

export const idempotencyWrites: WriteAppliers<WritesOf<'idempotency'>> = {
  *'idempotency.reserve'({ db }, { type, record, now }) {
    const changes = yield* db.run(reserveRecord, { ...toIdempotencyRow(record), now })
    if (changes === 1) return 1
    const current = yield* idempotencyReads.find(db, record.id, now)
    if (current === undefined)
      throw new Error(`the record of idempotency key ${record.id} disappeared within its transaction`)
    return { type, current }
  },
  *'idempotency.complete'({ db }, { runId, response, unlessPatientAt = null }) {
    return yield* db.run(completeRecord, { run_id: runId, unlessPatientAt, ...toResponseRow(response) })
  },
  *'idempotency.interrupt'({ db }, { response, executor }) {
    return yield* db.run(interruptRecords, { ...executorOf(executor), ...toResponseRow(response) })
  },
  *'idempotency.prune'({ db }, { now, limit }) {
    return yield* db.run(PRUNE_RECORDS, { now, limit })
  },
}

/** Inserts a record. Overwrites an expired record with the same id; changes nothing if a live record has that id. */
const reserveRecord = compile<IdempotencyRow & { now: number }, unknown>((param, { earlierClock }) =>
  from
    .insertInto('idempotency')
    .values(paramsFor(param, ['id', ...IDEMPOTENCY_COLUMNS]))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((eb) =>
          Object.fromEntries(IDEMPOTENCY_COLUMNS.map((column) => [column, eb.ref(`excluded.${column}`)])),
        )
        .where('idempotency.status', 'is not', null)
        .where('idempotency.expires_at', '<=', earlierClock(param('now'))),
    ),
)

type CompleteValues = ResponseColumns & Pick<IdempotencyRow, 'run_id'> & { readonly unlessPatientAt: number | null }

export const completeRecord = compile<CompleteValues, unknown>((param) =>
  from
    .updateTable('idempotency')
    .set(paramsFor(param, RESPONSES.columns))
    .where(({ and, or, eb }) => {
      const isOfRun = eb('run_id', '=', param('run_id'))
      const holdsItsContent = eb('content_of', '=', param('run_id'))
      return or([and([holdsItsContent, isOfRun, eb('status', 'is', null)]), and([isOfRun, IS_PENDING_NON_RUN_ANSWER])])
    })
    .where(
      sql<boolean>`(cast(${param('unlessPatientAt')} as bigint) is null
        or coalesce(patient_until, 0) <= cast(${param('unlessPatientAt')} as bigint))`,
    ),
)

const executorOf = (executor: string | { readonly nobody: true } | undefined) => ({
  executor: typeof executor === 'string' ? executor : null,
  ofAll: executor === undefined ? 1 : 0,
})

export const interruptRecords = compile<ResponseColumns & ReturnType<typeof executorOf>, unknown>((param, { run }) =>
  from
    .updateTable('idempotency')
    .set(paramsFor(param, RESPONSES.columns))
    .where(IS_PENDING_NON_RUN_ANSWER)
    .where(
      sql<boolean>`(cast(${param('ofAll')} as integer) = 1 or executor is not distinct from cast(${param('executor')} as text))`,
    )
    .where(sql<boolean>`(run_id is null or not exists (
      select 1 from runs where ${sql.ref(`runs.${run.self}`)} = ${run.of(sql.ref('idempotency.run_id'))}))`),
)

/** Replaces the responses that hold content of a deleted resource. The idempotency keys stay reserved. */
export function* redactAnswers(db: Db, contentOf: string, answer: StoredResponse): Program<void> {
  yield* db.run(REDACT_ANSWERS, { ...toResponseRow(answer), contentOf })
}

export const REDACT_ANSWERS = compile<ResponseColumns & { readonly contentOf: string }, unknown>((param) =>
  from
    .updateTable('idempotency')
    .set({ ...paramsFor(param, RESPONSES.columns), run_id: null, content_of: null })
    .where('content_of', '=', param('contentOf')),
)

export const PRUNE_RECORDS = pruneQuery<{ now: number; limit: number }>(
  'idempotency',
  (param, { earlierClock }) =>
    sql`status is not null and expires_at <= ${earlierClock(param('now'))} order by expires_at`,
)
