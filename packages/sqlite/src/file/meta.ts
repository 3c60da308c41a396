import { compile } from '@perdure/storage'
import { from } from '../query/compile.ts'
import { COMMIT_MARK } from './commit-mark.ts'
import type { Connection } from './connection.ts'

type MetaName = 'clean_shutdown' | typeof COMMIT_MARK

/**
 * Sets the `clean_shutdown` flag, which is off from the moment a server opens the database until it shuts down cleanly.
 */
const markShutdown = (db: Connection, isClean: boolean): void => {
  db.run(updateValue, { name: 'clean_shutdown', value: isClean ? '1' : '0' })
}

/**
 * Clears the `clean_shutdown` flag, in the database file too: a flag that is only in the log is lost with the log. The
 * checkpoint is best effort and does not wait for readers.
 */
export function markOpen(db: Connection): void {
  markShutdown(db, false)
  try {
    db.database.pragma('wal_checkpoint(PASSIVE)')
  } catch {}
}

/** Stores the count of a mark, durably in the mode `full`. */
export function storeCount(db: Connection, count: number): void {
  db.run(upsertValue, { name: COMMIT_MARK, value: String(count) })
}

/** Marks a clean shutdown. Best effort: if this fails, as on a full disk, the next start only runs a `quick_check`. */
export function finishCleanly(db: Connection): void {
  try {
    markShutdown(db, true)
    db.database.pragma('wal_checkpoint(TRUNCATE)')
  } catch {}
}

const upsertValue = compile<{ name: MetaName; value: string }, unknown>((param) =>
  from
    .insertInto('meta')
    .values({ name: param('name'), value: param('value') })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: param('value') })),
)

const updateValue = compile<{ name: MetaName; value: string }, unknown>((param) =>
  from
    .updateTable('meta')
    .set({ value: param('value') })
    .where('name', '=', param('name')),
)
