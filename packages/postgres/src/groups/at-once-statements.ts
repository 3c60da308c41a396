import {
  type ChangedRunColumns,
  type ChangedStepColumns,
  compile,
  IDEMPOTENCY_COLUMNS,
  type IdempotencyRow,
  type MessageRow,
  NO_EXECUTOR,
  type Param,
  type Query,
  RESPONSES,
  type ResponseColumns,
  RUN_CHANGES,
  RUN_COLUMNS,
  type RunRow,
  STEP_CHANGES,
  STEPS,
  type StepRow,
} from '@perdure/storage'
import { type RawBuilder, sql } from 'kysely'
import { type EventColumns, insertion } from '../host/append-events.ts'
import type { Marker } from '../host/node.ts'
import { earlierClock } from '../query/earlier-clock.ts'

/**
 * The writes of one commit, each as one statement that fails if the condition of the write does not hold. So all of them
 * can be sent with the commit, before any result has arrived.
 */
export const AT_ONCE = {
  reserve: statement<IdempotencyRow & { readonly now: number }>((param) =>
    expectRows(sql`${insertRow('idempotency', ['id', ...IDEMPOTENCY_COLUMNS], param)}
      on conflict (id) do update set ${sql.join(
        IDEMPOTENCY_COLUMNS.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`),
      )}
      where idempotency.status is not null and idempotency.expires_at <= ${earlierClock(param('now'))} returning 1`),
  ),
  /** Expects the row of the node, and keeps it from being deleted. */
  holdNode: statement<Marker>((param) =>
    expectRows(sql`select 1 from nodes where id = ${param('node')} for key share`),
  ),
  /** Also inserts the marker of the transaction, which tells the count if the answer is lost. */
  complete: statement<CompleteValues>(
    (param) => sql`with completed as (
        update idempotency set ${sql.join(RESPONSES.columns.map((column) => sql`${sql.ref(column)} = ${param(column)}`))}
        where status is null and id = any(array(
          select id from idempotency where content_of = ${param('runId')} and run_id = content_of and status is null
          union all
          select id from idempotency where run_id = ${param('runId')} and status is null
            and coalesce(run_id, '') is distinct from content_of))
          and coalesce(patient_until, 0) <= ${param('patientAt')}::bigint
        returning 1
      )
      insert into node_groups (node, number, completed)
      select ${param('node')}, ${param('number')}::bigint, count(*) from completed returning completed`,
  ),
  /** For a transaction that has its marker already. */
  appendEvents: statement<EventColumns & Marker & { readonly known: number }>(
    (param) => sql`with added as (${insertion(param)})
      update node_groups set first_position = (select min(position) from added)
      where node = ${param('node')} and number = ${param('number')} returning first_position`,
  ),
  insertRun: statement<RunRow>((param) => insertRow('runs', RUN_COLUMNS, param)),
  insertField: statement<{ readonly id: string; readonly field: string; readonly value: string }>(
    (param) => sql`insert into run_fields (field, value, run_at, run_id)
      select ${param('field')}, ${param('value')}, created_at, id from runs where id = ${param('id')}
      on conflict do nothing`,
  ),
  transition: statement<TransitionValues>((param) =>
    expectRows(sql`update runs set ${changes<TransitionValues>(PLAIN_RUN_COLUMNS, param)},
        execution = execution + ${param('begun')}::integer,
        executor = nullif(coalesce(${param('executor')}, executor), ${sql.lit(NO_EXECUTOR)})
      where id = ${param('id')} and status = ${param('before')} and attempt = ${param('expected')}
        and (${param('startsAt')}::bigint is null or start_at = ${param('startsAt')})
        and (${param('expectedExecution')}::integer is null or execution = ${param('expectedExecution')}) returning 1`),
  ),
  markForFollowUp: statement<{ readonly id: string }>(
    (param) => sql`insert into run_follow_ups (run_id) values (${param('id')}) on conflict (run_id) do nothing`,
  ),
  fence: statement<{ readonly id: string; readonly attempt: number; readonly execution: number | null }>((param) =>
    expectRows(sql`select 1 from runs
      where id = ${param('id')} and status = 'running' and attempt = ${param('attempt')}
        and (${param('execution')}::integer is null or execution = ${param('execution')}) for no key update`),
  ),
  lockRun: statement<{ readonly id: string }>(
    (param) => sql`select 1 from runs where id = ${param('id')} for no key update`,
  ),
  appendMessage: statement<Omit<MessageRow, 'seq'>>(
    (param) => sql`with session as (
        update sessions set last_seq = last_seq + 1, updated_at = ${param('created_at')}
        where id = ${param('session_id')} returning id, last_seq
      ), added as (
        insert into messages (session_id, seq, id, role, run_id, created_at, content)
        select id, last_seq, ${param('id')}, ${param('role')}, ${param('run_id')}, ${param('created_at')}, ${param('content')}
        from session returning 1
      )
      select expect_rows(count(*), 1) from added`,
  ),
  insertStep: statement<StepRow>((param) => insertRow('steps', ['run_id', ...STEPS.columns], param)),
  changeStep: statement<StepValues>((param) =>
    expectRows(sql`update steps set ${changes<StepValues>(
      STEP_CHANGES.columns.filter((column) => column !== 'order'),
      param,
    )}, "order" = case when ${param('ends')}::integer = 1 then (
          select coalesce(max("order"), 0) + 1 from steps as ended
          where ended.run_id = ${param('run_id')} and ended."order" is not null
        ) else "order" end
      where run_id = ${param('run_id')} and seq = ${param('seq')} and status = ${param('before')} returning 1`),
  ),
  expectWaiting: statement<{ readonly runId: string; readonly seqs: readonly number[]; readonly count: number }>(
    (param) =>
      expectRows(
        sql`select 1 from steps where run_id = ${param('runId')} and seq = any(${param('seqs')}::integer[])
          and status = 'waiting' for no key update`,
        param('count'),
      ),
  ),
} as const

type CompleteValues = ResponseColumns &
  Marker & {
    readonly runId: string
    /** Leaves out records whose caller is patient until later. */
    readonly patientAt: number
  }

const PLAIN_RUN_COLUMNS = RUN_CHANGES.columns.filter((column) => column !== 'execution' && column !== 'executor')

type TransitionValues = Omit<ChangedRunColumns, 'execution'> & {
  readonly id: string
  readonly before: string
  readonly expected: number
  readonly startsAt: number | null
  readonly expectedExecution: number | null
  readonly begun: 0 | 1
}

type StepValues = Omit<ChangedStepColumns, 'order'> &
  Pick<StepRow, 'run_id' | 'seq'> & { readonly before: string; readonly ends: 0 | 1 }

function statement<Values>(build: (param: Param<Values>) => RawBuilder<unknown>): Query<Values, unknown> {
  return compile<Values, unknown>((param) => build(param))
}

/** Fails unless the statement yields this many rows. */
function expectRows(rows: RawBuilder<unknown>, count: RawBuilder<unknown> = sql.lit(1)): RawBuilder<unknown> {
  return sql`with found as (${rows}) select expect_rows(count(*), ${count}) from found`
}

function insertRow<Row>(table: string, columns: readonly (keyof Row & string)[], param: Param<Row>) {
  return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values (${sql.join(columns.map((column) => param(column)))})`
}

/** Sets each column unless its value is null. */
function changes<Row>(columns: readonly (keyof Row & string)[], param: Param<Row>) {
  return sql.join(columns.map((column) => sql`${sql.ref(column)} = coalesce(${param(column)}, ${sql.ref(column)})`))
}
