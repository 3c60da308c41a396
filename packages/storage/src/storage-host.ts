import { type CommitOutcome, perdureError, type Refusal, type Write } from '@perdure/ports'
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

/** Calls a callback of the caller, whose errors must not stop the answers to waiting commits. */
export function report(callback: ((error: Refusal) => void) | undefined, error: Refusal): void {
  try {
    callback?.(error)
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown
    })
  }
}

export const closedError = (): Refusal => perdureError('storage-failed', { message: 'The storage is closed.' })
