import type { StoredResponse } from '@perdure/ports'
import { sql } from 'kysely'
import { releaseRunFiles } from '../files/file-writes.ts'
import { redactAnswers } from '../keys/idempotency-writes.ts'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { deleteBy } from '../query/table-queries.ts'
import type { WriteAppliers } from '../transaction.ts'
import { leaveRun } from './enter-run.ts'
import { FREE_HELD_SLOTS } from './lane-store.ts'
import { activeRunOfThread } from './run-store.ts'
import { keepUsage } from './subject-usage.ts'

export const threadWrites: WriteAppliers<'thread.delete'> = {
  *'thread.delete'(tx, { type, workflowId, threadId, answer }) {
    const current = yield* activeRunOfThread(tx.db, { workflowId, threadId })
    if (current !== undefined) return { type, current }
    const runs = yield* tx.db.all(THREAD_RUNS, { workflowId, threadId })
    yield* deleteRuns(tx.db, runs, answer)
    return runs.length
  },
}

/**
 * Deletes runs with everything that belongs to them. `answer` replaces stored responses that hold content of those
 * runs.
 */
export function* deleteRuns(db: Db, runs: readonly RunId[], answer: StoredResponse): Program<void> {
  for (const run of runs) {
    yield* redactRun(db, run, answer)
    yield* keepUsage(db, run.id)
    yield* deleteRun(db, run)
  }
}

/** Replaces the stored responses that hold content of the run. */
export function* redactRun(db: Db, run: RunId, answer: StoredResponse): Program<void> {
  yield* redactAnswers(db, run.id, answer)
  for (const approval of yield* db.all(APPROVALS_OF_RUN, run)) yield* redactAnswers(db, approval.id, answer)
}

export function* deleteRun(db: Db, run: RunId): Program<void> {
  yield* releaseRunFiles(db, run.id)
  for (const deletion of RUN_DELETIONS) yield* db.run(deletion, run)
  yield* leaveRun(db, run.id)
}

export interface RunId {
  readonly id: string
}

export const THREAD_RUNS = compile<{ workflowId: string; threadId: string }, RunId>((param, { unindexed }) =>
  from
    .selectFrom('runs')
    .select('id')
    .where('thread_id', '=', param('threadId'))
    .where(unindexed(sql`(target_id = ${param('workflowId')})`))
    .where('kind', '=', 'workflow'),
)

export const APPROVALS_OF_RUN = compile<RunId, { id: string }>((param) =>
  from.selectFrom('approvals').select('id').where('run_id', '=', param('id')),
)

/** Deletes the rows of one run, referring rows first. Facts and fires are kept, but lose their reference to the run. */
export const RUN_DELETIONS: readonly Query<RunId, unknown>[] = [
  compile((param, { run }) => from.deleteFrom('events').where(run.column, '=', run.of(param('id')))),
  compile((param, { run }) => from.deleteFrom('steps').where(run.column, '=', run.of(param('id')))),
  deleteBy('run_id', 'approvals'),
  FREE_HELD_SLOTS,
  compile((param) => from.updateTable('facts').set({ source_run_id: null }).where('source_run_id', '=', param('id'))),
  compile((param) => from.updateTable('trigger_fires').set({ run_id: null }).where('run_id', '=', param('id'))),
  compile((param, { run }) => from.deleteFrom('run_fields').where(run.column, '=', run.of(param('id')))),
  compile((param, { run }) => from.deleteFrom('run_follow_ups').where(run.column, '=', run.of(param('id')))),
  compile((param, { run }) => from.deleteFrom('runs').where(run.self, '=', run.of(param('id')))),
]
