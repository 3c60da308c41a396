import type { EpochMs } from './clock.ts'

/** An answer as it was sent the first time. */
export interface StoredResponse {
  readonly status: number
  readonly body: string // exact bytes, UTF-8; empty for 204
  readonly location?: string | undefined
  readonly contentType?: string | undefined
  /** The body holds a secret and is sealed; only who has the key can read it. */
  readonly sealed?: true | undefined
}

/** A remembered request. Without `response` it is still executing, and `runId` names the run that will answer it. */
export interface IdempotencyRecord {
  readonly id: string // principal subject, method and route path as 32 digits of lower-case hex, a colon, the key
  readonly fingerprint: string // SHA-256 of path, canonical query and RFC 8785 body; lower-case hex
  readonly runId?: string | undefined
  /**
   * Id of the run, the session or the approval whose content the answer holds; its deletion takes the answer along. Where it is
   * `runId`, that run is there, or comes in the same commit.
   */
  readonly contentOf?: string | undefined
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs // from here on the record counts as absent, unless it is still executing
  readonly response?: StoredResponse | undefined
}

/** Port. Reads of remembered requests; reserved and completed through `UnitOfWork`. Passes `idempotencyStoreContract`. */
export interface IdempotencyStore {
  /** The live record: still executing, or `expiresAt > now`. */
  find(id: string, now: EpochMs): Promise<IdempotencyRecord | undefined>
  /**
   * Whether a live record may have the id of an earlier release, a SHA-256 over the key as well. Once false, it stays so.
   * Absent where no earlier release can have written.
   */
  holdsHashedIds?(now: EpochMs): Promise<boolean>
}
