import { compile, from } from './query.ts'
import type { Transaction } from './write-applier.ts'

/** The integer key of the run; given now when this is its first mention. */
export function runKey(tx: Transaction, runId: string): number {
  if (tx.lastRun?.id !== runId) tx.lastRun = { id: runId, key: knownKey(tx, runId) ?? newKey(tx, runId) }
  return tx.lastRun.key
}

/** The same of a run that is most likely mentioned now. */
export function runKeyOfNew(tx: Transaction, runId: string): number {
  if (tx.lastRun?.id === runId) return tx.lastRun.key
  const { changes, lastInsertRowid } = tx.db.run(insertNewKey, { runId })
  if (changes === 0) return runKey(tx, runId)
  tx.lastRun = { id: runId, key: Number(lastInsertRowid) }
  return tx.lastRun.key
}

const knownKey = ({ db }: Transaction, runId: string) => db.get(selectKey, { runId })?.key

const newKey = ({ db }: Transaction, runId: string) => Number(db.run(insertKey, { runId }).lastInsertRowid)

const selectKey = compile<{ runId: string }, { key: number }>((place) =>
  from.selectFrom('run_keys').select('key').where('run_id', '=', place('runId')),
)

const insertKey = compile<{ runId: string }, unknown>((place) =>
  from.insertInto('run_keys').values({ run_id: place('runId') }),
)

const insertNewKey = compile<{ runId: string }, unknown>((place) =>
  from
    .insertInto('run_keys')
    .values({ run_id: place('runId') })
    .onConflict((conflict) => conflict.column('run_id').doNothing()),
)
