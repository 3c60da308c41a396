import type { StoredResponse } from '@perdure/ports'
import {
  IDEMPOTENCY_COLUMNS,
  type IdempotencyRow,
  paramsFor,
  RESPONSE_COLUMNS,
  type ResponseColumns,
  toIdempotencyRow,
  toResponseRow,
} from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { earlierClock } from '../query/earlier-clock.ts'
import { findIdempotency, IS_PENDING_NON_RUN_ANSWER } from './idempotency-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const idempotencyWrites: WriteAppliers<
  'idempotency.reserve' | 'idempotency.complete' | 'idempotency.interrupt' | 'idempotency.prune'
> = {
  async 'idempotency.reserve'({ db }, { type, record, now }) {
    const { changes } = await db.run(reserveRecord, { ...toIdempotencyRow(record), now })
    if (changes === 1) return 1
    const current = (await findIdempotency(db, { ids: [record.id], now }))[0]
    if (current === undefined)
      throw new Error(`the record of idempotency key ${record.id} disappeared within its transaction`)
    return { type, current }
  },
  'idempotency.complete': async ({ db }, { runId, response, unlessPatientAt = null }) =>
    (await db.run(completeRecord, { run_id: runId, unlessPatientAt, ...toResponseRow(response) })).changes,
  'idempotency.interrupt': async ({ db }, { response, executor }) =>
    (await db.run(interruptRecords, { ...executorOf(executor), ...toResponseRow(response) })).changes,
  'idempotency.prune': async ({ db }, { now, limit }) => (await db.run(PRUNE_RECORDS, { now, limit })).changes,
}

/** Inserts a record. Overwrites an expired record with the same id; changes nothing if a live record has that id. */
const reserveRecord = compile<IdempotencyRow & { now: number }, unknown>((param) =>
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
    .set(paramsFor(param, RESPONSE_COLUMNS))
    .where(({ and, or, eb }) => {
      const isOfRun = eb('run_id', '=', param('run_id'))
      const holdsItsContent = eb('content_of', '=', param('run_id'))
      return or([and([holdsItsContent, isOfRun, eb('status', 'is', null)]), and([isOfRun, IS_PENDING_NON_RUN_ANSWER])])
    })
    .where(
      sql<boolean>`(${param('unlessPatientAt')}::bigint is null or coalesce(patient_until, 0) <= ${param('unlessPatientAt')}::bigint)`,
    ),
)

const executorOf = (executor: string | { readonly nobody: true } | undefined) => ({
  executor: typeof executor === 'string' ? executor : null,
  ofAll: executor === undefined ? 1 : 0,
})

const interruptRecords = compile<ResponseColumns & ReturnType<typeof executorOf>, unknown>((param) =>
  from
    .updateTable('idempotency')
    .set(paramsFor(param, RESPONSE_COLUMNS))
    .where(IS_PENDING_NON_RUN_ANSWER)
    .where(sql<boolean>`(${param('ofAll')}::integer = 1 or executor is not distinct from ${param('executor')}::text)`)
    .where(sql<boolean>`(run_id is null or not exists (select 1 from runs where runs.id = idempotency.run_id))`),
)

/** Replaces the responses that hold content of a deleted resource. The idempotency keys stay reserved. */
export const redactAnswers = async (db: Connection, contentOf: string, answer: StoredResponse): Promise<unknown> =>
  await db.run(REDACT_ANSWERS, { ...toResponseRow(answer), contentOf })

export const REDACT_ANSWERS = compile<ResponseColumns & { readonly contentOf: string }, unknown>((param) =>
  from
    .updateTable('idempotency')
    .set({ ...paramsFor(param, RESPONSE_COLUMNS), run_id: null, content_of: null })
    .where('content_of', '=', param('contentOf')),
)

export const PRUNE_RECORDS = compile<{ now: number; limit: number }, unknown>((param) => ({
  compile: () =>
    sql`delete from idempotency where id = any(array(
      select id from idempotency where status is not null and expires_at <= ${earlierClock(param('now'))}
      order by expires_at limit ${param('limit')}))`.compile(from),
}))
