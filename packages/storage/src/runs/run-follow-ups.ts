import { type RunRecord, takeWithinPage } from '@perdure/ports'
import type { Program } from '../program.ts'
import { compile } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { rowBytes } from '../query/page.ts'
import { type RunRow, toRun } from './run-row.ts'

/** The runs with follow-ups that are not done. */
export function* runsNeedingFollowUp(db: Db, { limit }: { readonly limit: number }): Program<readonly RunRecord[]> {
  return takeWithinPage(yield* db.each(NEEDING_FOLLOW_UP, { limit }), limit, rowBytes).items.map(toRun)
}

export const NEEDING_FOLLOW_UP = compile<{ limit: number }, RunRow>((param, { run }) =>
  from
    .selectFrom('run_follow_ups')
    .innerJoin('runs', `runs.${run.self}`, `run_follow_ups.${run.column}`)
    .selectAll('runs')
    .orderBy(run.column)
    .limit(param('limit')),
)
