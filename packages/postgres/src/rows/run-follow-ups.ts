import { type RunRecord, takeWithinPage } from '@perdure/ports'
import { type RunRow, rowBytes, toRun } from '@perdure/sql'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'

/** The runs with follow-ups that are not done. */
export const runsNeedingFollowUp = async (
  db: Connection,
  { limit }: { readonly limit: number },
): Promise<readonly RunRecord[]> =>
  takeWithinPage(await db.all(NEEDING_FOLLOW_UP, { limit }), limit, rowBytes).items.map(toRun)

export const NEEDING_FOLLOW_UP = compile<{ limit: number }, RunRow>((param) =>
  from
    .selectFrom('run_follow_ups')
    .innerJoin('runs', 'runs.id', 'run_follow_ups.run_id')
    .selectAll('runs')
    .orderBy('run_id')
    .limit(param('limit')),
)
