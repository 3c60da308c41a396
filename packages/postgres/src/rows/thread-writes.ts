import type { StoredResponse } from '@perdure/ports'
import type { Query } from '@perdure/sql'
import { sql } from 'kysely'
import { compile, from } from '../query/compile.ts'
import { redactAnswers } from './idempotency-writes.ts'
import { FREE_HELD_SLOTS } from './lane-store.ts'
import { activeRunOfThread } from './run-store.ts'
import type { Transaction, WriteAppliers } from './write-applier.ts'

export const threadWrites: WriteAppliers<'thread.delete'> = {
  async 'thread.delete'(tx, { type, workflowId, threadId, answer }) {
    const current = await activeRunOfThread(tx.db, { workflowId, threadId })
    if (current !== undefined) return { type, current }
    const runs = await tx.db.all(THREAD_RUNS, { workflowId, threadId })
    await deleteRuns(tx, runs, answer)
    return runs.length
  },
}

/**
 * Deletes runs with everything that belongs to them. `answer` replaces stored responses that hold content of those
 * runs.
 */
export async function deleteRuns(tx: Transaction, runs: readonly RunKeys[], answer: StoredResponse): Promise<void> {
  const { db } = tx
  for (const run of runs) {
    await redactAnswers(db, run.id, answer)
    for (const approval of await db.all(APPROVALS_OF_RUN, run)) await redactAnswers(db, approval.id, answer)
    await deleteRun(tx, run)
  }
}

export async function deleteRun(tx: Transaction, run: RunKeys): Promise<void> {
  for (const deletion of RUN_DELETIONS) await tx.db.run(deletion, run)
}

export interface RunKeys {
  readonly id: string
}

export const THREAD_RUNS = compile<{ workflowId: string; threadId: string }, RunKeys>((param) =>
  from
    .selectFrom('runs')
    .select('id')
    .where('thread_id', '=', param('threadId'))
    .where(sql<boolean>`(target_id = ${param('workflowId')}) is true`)
    .where('kind', '=', 'workflow'),
)

export const APPROVALS_OF_RUN = compile<RunKeys, { id: string }>((param) =>
  from.selectFrom('approvals').select('id').where('run_id', '=', param('id')),
)

/** Deletes the rows of one run, referring rows first. Facts and fires are kept, but lose their reference to the run. */
export const RUN_DELETIONS: readonly Query<RunKeys, unknown>[] = [
  compile((param) => from.deleteFrom('events').where('run_id', '=', param('id'))),
  compile((param) => from.deleteFrom('steps').where('run_id', '=', param('id'))),
  compile((param) => from.deleteFrom('approvals').where('run_id', '=', param('id'))),
  FREE_HELD_SLOTS,
  compile((param) => from.updateTable('facts').set({ source_run_id: null }).where('source_run_id', '=', param('id'))),
  compile((param) => from.updateTable('trigger_fires').set({ run_id: null }).where('run_id', '=', param('id'))),
  compile((param) => from.deleteFrom('run_fields').where('run_id', '=', param('id'))),
  compile((param) => from.deleteFrom('run_follow_ups').where('run_id', '=', param('id'))),
  compile((param) => from.deleteFrom('runs').where('id', '=', param('id'))),
]
