import type { IdKind } from '@perdure/protocol'

/** Port. Fresh ids that sort by time, and bytes nobody can guess. */
export interface IdGenerator {
  /** `prefix_` and 26 Crockford base32 characters of a UUIDv7; strictly increasing within a process. */
  newId(kind: IdKind): string
  /** Cryptographically strong random bytes. */
  randomBytes(length: number): Uint8Array
}
