import type { Program } from './program.ts'
import type { Db, LockName } from './query/dialect.ts'

/** Takes a lock that the transaction holds until it ends. A database with one writer needs none. */
export function* takeLock(db: Db, name: LockName): Program<void> {
  const lock = db.dialect.lock(name)
  if (lock !== undefined) yield* db.run(lock, {})
}
