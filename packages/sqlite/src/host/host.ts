import type { StorageHost } from '@perdure/storage'
import type { HostCounters } from './host-counters.ts'

/**
 * `full`: the last transaction did not fit on the disk. `failed`: the state on disk is unknown; the host never
 * recovers.
 */
export type HostState = 'open' | 'full' | 'failed' | 'closed'

/** Runs operations on a database. Driver failures are thrown as `PerdureError`. */
export interface Host extends StorageHost {
  /** Checks whether a full disk has space again; if so, the host accepts every write again. Never rejects. */
  checkDisk(): Promise<void>
  /** Fails the host if files of the database were removed or replaced. Cheap; safe to call at any time. */
  checkFiles(): void
  state(): HostState
  /** Why the host has failed, if that is known. Reveals no paths. */
  problem(): string | undefined
  /** Whether the content of lost files is being saved. The process must not end before. */
  isSaving(): boolean
  counters(): HostCounters
  /** Commits the queued writes, then closes the connection. Idempotent. */
  close(): Promise<void>
}
