import { compile, from } from '../query/compile.ts'
import type { Transaction } from './write-applier.ts'

/** Returns the integer key of the run; assigns a key if the run has none yet. */
export const runKey = (tx: Transaction, runId: string): number => firstOf(tx, runId, [knownKey, newKey])

/** Like `runKey`, but tries to insert first: for a run that most likely has no key yet. */
export const runKeyOfNew = (tx: Transaction, runId: string): number => firstOf(tx, runId, [newKey, knownKey])

type FindKey = (tx: Transaction, runId: string) => number | undefined

function firstOf(tx: Transaction, runId: string, [find, otherwise]: readonly [FindKey, FindKey]): number {
  if (tx.lastRun?.id !== runId) tx.lastRun = { id: runId, key: find(tx, runId) ?? (otherwise(tx, runId) as number) }
  return tx.lastRun.key
}

const knownKey: FindKey = ({ db }, runId) => db.get(selectKey, { runId })?.key

/** Returns `undefined` if the run already has a key. */
const newKey: FindKey = ({ db }, runId) => {
  const { changes, lastInsertRowid } = db.run(insertKey, { runId })
  return changes === 0 ? undefined : Number(lastInsertRowid)
}

const selectKey = compile<{ runId: string }, { key: number }>((param) =>
  from.selectFrom('run_keys').select('key').where('run_id', '=', param('runId')),
)

const insertKey = compile<{ runId: string }, unknown>((param) =>
  from
    .insertInto('run_keys')
    .values({ run_id: param('runId') })
    .onConflict((conflict) => conflict.column('run_id').doNothing()),
)
