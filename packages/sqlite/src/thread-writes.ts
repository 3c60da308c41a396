import { sql } from 'kysely'
import { compile, from, type Query } from './query.ts'
import type { WriteAppliers } from './write-applier.ts'

export const threadWrites: WriteAppliers<'thread.delete'> = {
  'thread.delete'({ db }, { workflowId, threadId }) {
    const runs = db.all(THREAD_RUNS, { workflowId, threadId })
    for (const run of runs) for (const deletion of RUN_DELETIONS) db.run(deletion, run)
    return runs.length
  },
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
