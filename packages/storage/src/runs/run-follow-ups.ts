import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { RunRow } from './run-row.ts'

/** The runs with follow-ups that are not done. */
export const NEEDING_FOLLOW_UP = compile<{ limit: number }, RunRow>((param, { run }) =>
  from
    .selectFrom('run_follow_ups')
    .innerJoin('runs', `runs.${run.self}`, `run_follow_ups.${run.column}`)
    .selectAll('runs')
    .orderBy(run.column)
    .limit(param('limit')),
)
