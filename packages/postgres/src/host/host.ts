import type { Refusal } from '@perdure/ports'
import type { StorageHost } from '@perdure/storage'
import type { HostCounters } from './host-counters.ts'

/** `failed`: the outcome of a commit is unknown, or another process has taken over; the host never recovers. */
export type HostState = 'open' | 'failed' | 'closed'

/** Runs operations on the database. Errors of the driver are thrown as `PerdureError`. */
export interface Host extends StorageHost {
  state(): HostState
  /** Whether the server was reachable at the last attempt. */
  isConnected(): boolean
  /** Rejects every later commit with this error. */
  fail(error: Refusal): void
  counters(): HostCounters
  /** Commits what waits, then closes the connections. Idempotent. */
  close(): Promise<void>
}
