import type { AppErrorOptions, Conflict, StoredEvent, Write } from '@berth/ports'
import type { ErrorCode } from '@berth/protocol'
import type { Encryption } from '../encryption.ts'
import type { Synchronous } from '../synchronous.ts'
import type { WriteJob } from './commit-group.ts'

/** JSON text: to write and read it costs a fraction of a structured clone. What holds bytes is cloned. */
export type Packed<T> = string | T

export const packJobs = (jobs: readonly WriteJob[]): Packed<readonly WriteJob[]> =>
  jobs.some(({ request }) => request.some(holdsBytes)) ? jobs : JSON.stringify(jobs)

export const packSettled = (settled: readonly SettledMessage[]): Packed<readonly SettledMessage[]> =>
  JSON.stringify(settled)

export const unpack = <T>(packed: Packed<T>): T => (typeof packed === 'string' ? (JSON.parse(packed) as T) : packed)

/** Keys are the only bytes in a write. */
const holdsBytes = (write: Write): boolean => 'keys' in write && write.keys !== undefined

/** What the storage worker is told, in order. It answers each with one `WorkerAnswer`. */
export type WorkerRequest =
  | {
      readonly type: 'open'
      readonly path: string
      readonly synchronous: Synchronous | undefined
      readonly encryption: Encryption | undefined
    }
  | { readonly type: 'commit'; readonly jobs: Packed<readonly WriteJob[]> }
  /** Moves the log into the file. `truncate` also gives its space back, where no reader stands in the way. */
  | { readonly type: 'checkpoint'; readonly truncate: boolean }
  /** The last one. `isIntact`: the database may be marked as closed in order. */
  | { readonly type: 'close'; readonly isIntact: boolean }

export type WorkerAnswer =
  | { readonly type: 'done'; readonly settled: Packed<readonly SettledMessage[]> }
  | { readonly type: 'refused'; readonly error: ErrorMessage }

/**
 * The events of a commit stay where they came from; only their positions travel back. Where the storage has made events
 * itself, as for an audit entry that is published, all of them do.
 */
export type SettledMessage =
  | { readonly events: readonly StoredEvent[]; readonly counts: readonly number[] }
  | { readonly positions: readonly number[]; readonly counts: readonly number[] }
  | { readonly index: number; readonly conflict: Conflict }
  | { readonly error: ErrorMessage }

/** An error that can be cloned. */
export interface ErrorMessage extends Pick<AppErrorOptions, 'message' | 'hint'> {
  readonly id: ErrorCode
  readonly cause: string | undefined
}
