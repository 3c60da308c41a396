import type { StoredResponse } from '@perdure/ports'
import { sql } from 'kysely'
import { forgetAnswers } from './idempotency-writes.ts'
import { compile, from, type Query } from './query.ts'
import type { Transaction, WriteAppliers } from './write-applier.ts'

export const threadWrites: WriteAppliers<'thread.delete'> = {
  'thread.delete'(tx, { workflowId, threadId, answer }) {
    const runs = tx.db.all(THREAD_RUNS, { workflowId, threadId })
    deleteRuns(tx, runs, answer)
    return runs.length
  },
}

/** With all that belongs to them; answers that hold content of it become `answer`. */
export function deleteRuns(tx: Transaction, runs: readonly RunNames[], answer: StoredResponse): void {
  const { db } = tx
  for (const run of runs) {
    forgetAnswers(db, run.id, answer)
    for (const approval of db.all(APPROVALS_OF_RUN, run)) forgetAnswers(db, approval.id, answer)
    deleteRun(tx, run)
  }
}

export function deleteRun(tx: Transaction, run: RunNames): void {
  for (const deletion of RUN_DELETIONS) tx.db.run(deletion, run)
  if (tx.lastRun?.id === run.id) tx.lastRun = undefined
}

export interface RunNames {
  readonly key: number
  readonly id: string
}

export const THREAD_RUNS = compile<{ workflowId: string; threadId: string }, RunNames>((place) =>
  from
    .selectFrom('runs')
    .select(['key', 'id'])
    .where('thread_id', '=', place('threadId'))
    .where(sql<boolean>`+target_id = ${place('workflowId')}`)
    .where('kind', '=', 'workflow'),
)

export const APPROVALS_OF_RUN = compile<RunNames, { id: string }>((place) =>
  from.selectFrom('approvals').select('id').where('run_id', '=', place('id')),
)

/** Everything of one run, and what refers to something before that. Facts and fires outlive it, and forget it. */
export const RUN_DELETIONS: readonly Query<RunNames, unknown>[] = [
  compile((place) => from.deleteFrom('events').where('run_key', '=', place('key'))),
  compile((place) => from.deleteFrom('steps').where('run_key', '=', place('key'))),
  compile((place) => from.deleteFrom('approvals').where('run_id', '=', place('id'))),
  compile((place) => from.updateTable('facts').set({ source_run_id: null }).where('source_run_id', '=', place('id'))),
  compile((place) => from.updateTable('trigger_fires').set({ run_id: null }).where('run_id', '=', place('id'))),
  compile((place) => from.deleteFrom('runs').where('key', '=', place('key'))),
  compile((place) => from.deleteFrom('run_keys').where('key', '=', place('key'))),
]
