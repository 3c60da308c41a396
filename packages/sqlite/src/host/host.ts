import type { ReadName, ReadRequest, ReadResult, WriteName, WriteRequest, WriteResult } from '../operations.ts'
import type { HostCounters } from './host-counters.ts'

/** `full`: the newest transaction did not fit on the disk. `failed`: what is on disk is unknown; it never recovers. */
export type HostState = 'open' | 'full' | 'failed' | 'closed'

/** Runs operations on a database. Failures of the driver come out as `AppError`. */
export interface Host {
  /** Joins the write to the next group transaction; resolves when that is durable. */
  write<Name extends WriteName>(name: Name, request: WriteRequest<Name>): Promise<WriteResult<Name>>
  /** Sees everything that was acknowledged. */
  read<Name extends ReadName>(name: Name, request: ReadRequest<Name>): Promise<ReadResult<Name>>
  /** Looks whether a full disk has room again; from then on every write is taken. Never rejects. */
  tend(): Promise<void>
  state(): HostState
  counters(): HostCounters
  /** Settles the writes that wait, then closes the connection. Idempotent. */
  close(): Promise<void>
}
