import { compile, from } from './query.ts'
import type { Transaction } from './write-applier.ts'

/** The integer key of the run; given now when this is its first mention. */
export const runKey = (tx: Transaction, runId: string): number => firstOf(tx, runId, [knownKey, newKey])

/** The same of a run that is most likely mentioned now. */
export const runKeyOfNew = (tx: Transaction, runId: string): number => firstOf(tx, runId, [newKey, knownKey])

type FindKey = (tx: Transaction, runId: string) => number | undefined

function firstOf(tx: Transaction, runId: string, [find, otherwise]: readonly [FindKey, FindKey]): number {
  if (tx.lastRun?.id !== runId) tx.lastRun = { id: runId, key: find(tx, runId) ?? (otherwise(tx, runId) as number) }
  return tx.lastRun.key
}

const knownKey: FindKey = ({ db }, runId) => db.get(selectKey, { runId })?.key

/** `undefined` when it has one. */
const newKey: FindKey = ({ db }, runId) => {
  const { changes, lastInsertRowid } = db.run(insertKey, { runId })
  return changes === 0 ? undefined : Number(lastInsertRowid)
}

const selectKey = compile<{ runId: string }, { key: number }>((place) =>
  from.selectFrom('run_keys').select('key').where('run_id', '=', place('runId')),
)

const insertKey = compile<{ runId: string }, unknown>((place) =>
  from
    .insertInto('run_keys')
    .values({ run_id: place('runId') })
    .onConflict((conflict) => conflict.column('run_id').doNothing()),
)
