import type { Connection } from './connection.ts'
import { compile, from } from './query.ts'

type MetaName = 'epoch' | 'trimmed_through' | 'clean_shutdown' | 'hashed_ids_until'

export function readMeta(db: Connection, name: MetaName): string {
  const row = db.get(selectValue, { name })
  if (row === undefined) throw new Error(`the meta row ${name} is missing`)
  return row.value
}

/** `false` from the opening of a served database to its orderly end. */
export const markShutdown = (db: Connection, isClean: boolean): void => {
  db.run(updateValue, { name: 'clean_shutdown', value: isClean ? '1' : '0' })
}

/** Events up to here may be gone; it never goes back. */
export function trimThrough(db: Connection, position: number): void {
  if (position <= Number(readMeta(db, 'trimmed_through'))) return
  db.run(updateValue, { name: 'trimmed_through', value: String(position) })
}

/** Best effort: what fails here (a full disk) costs the next start a `quick_check` and nothing else. */
export function endInOrder(db: Connection): void {
  try {
    markShutdown(db, true)
    db.database.pragma('wal_checkpoint(TRUNCATE)')
  } catch {}
}

const selectValue = compile<{ name: MetaName }, { value: string }>((place) =>
  from.selectFrom('meta').select('value').where('name', '=', place('name')),
)

const updateValue = compile<{ name: MetaName; value: string }, unknown>((place) =>
  from
    .updateTable('meta')
    .set({ value: place('value') })
    .where('name', '=', place('name')),
)
