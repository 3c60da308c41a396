import type { CommitOutcome, Write } from '@perdure/ports'
import type { Program } from './program.ts'
import type { Db } from './query/dialect.ts'

/** Runs reads and commits on a database. */
export interface StorageHost {
  /** Runs a read with its arguments. It sees every acknowledged commit. */
  read<Args extends readonly unknown[], Result>(
    program: (db: Db, ...args: Args) => Program<Result>,
    ...args: Args
  ): Promise<Result>
  /** Resolves when the writes are durable, or refused. */
  commit(writes: readonly Write[]): Promise<CommitOutcome>
}
