import type { IdKind } from '@perdure/protocol'

/** Port. Generates ids that sort by time, and unpredictable bytes. */
export interface IdGenerator {
  /** Returns `prefix_` and 26 Crockford base32 characters of a UUIDv7, strictly increasing within a process while its clock is not set back by more than a minute. */
  newId(kind: IdKind): string
  /** Returns cryptographically strong random bytes. */
  randomBytes(length: number): Uint8Array
}
