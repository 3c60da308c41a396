import { type RunRecord, takeWithinPage } from '@perdure/ports'
import { type RunRow, rowBytes, toRun } from '@perdure/sql'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'

/** The runs with follow-ups that are not done. */
export const runsNeedingFollowUp = (db: Connection, { limit }: { readonly limit: number }): readonly RunRecord[] =>
  takeWithinPage(db.each(NEEDING_FOLLOW_UP, { limit }), limit, rowBytes).items.map(toRun)

export const NEEDING_FOLLOW_UP = compile<{ limit: number }, RunRow>((param) =>
  from
    .selectFrom('run_follow_ups')
    .innerJoin('runs', 'runs.key', 'run_follow_ups.run_key')
    .selectAll('runs')
    .orderBy('run_key')
    .limit(param('limit')),
)
