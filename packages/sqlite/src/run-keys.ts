import type { Connection } from './connection.ts'
import { compile, from } from './query.ts'

/** The integer key of the run; given now when this is its first mention. */
export function runKey(db: Connection, runId: string): number {
  const known = db.get(selectKey, { runId })
  if (known !== undefined) return known.key
  return Number(db.run(insertKey, { runId }).lastInsertRowid)
}

const selectKey = compile<{ runId: string }, { key: number }>((place) =>
  from.selectFrom('run_keys').select('key').where('run_id', '=', place('runId')),
)

const insertKey = compile<{ runId: string }, unknown>((place) =>
  from.insertInto('run_keys').values({ run_id: place('runId') }),
)
