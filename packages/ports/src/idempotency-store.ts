import type { EpochMs } from './clock.ts'

/** A response exactly as it was first sent. */
export interface StoredResponse {
  readonly status: number
  readonly body: string // exact bytes, UTF-8; empty for 204
  readonly location?: string | undefined
  readonly contentType?: string | undefined
  /** The body contains a secret, so it is stored encrypted by the `Sealer`. */
  readonly sealed?: true | undefined
}

/**
 * A request stored under its idempotency key. Without `response`, it is still executing; `runId` then names the run
 * whose outcome becomes the response.
 */
export interface IdempotencyRecord {
  /**
   * Principal subject, method and route path as 32 lower-case hex digits, then a colon and the key. If the response
   * contains a secret, the digits also depend on the token family.
   */
  readonly id: string
  /**
   * SHA-256 of path, canonical query and RFC 8785 body in lower-case hex, then the rows that the first caller could
   * see: `*` for every row, else JSON. Adapters store it as it is.
   */
  readonly fingerprint: string
  readonly runId?: string | undefined
  /**
   * Id of the run, session or approval whose content is in the response; deleting that record also deletes the
   * response. If the id equals `runId`, that run exists or is inserted in the same commit.
   */
  readonly contentOf?: string | undefined
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs // from this instant the record counts as absent, unless it is still executing
  readonly response?: StoredResponse | undefined
  readonly executor?: string | undefined // the process that executes the request; missing when only one process can
  /** Until this instant, a waiter of the run ignores suspensions that depend on a time. */
  readonly patientUntil?: EpochMs | undefined
}

/** Port. Reads stored requests; every write goes through `UnitOfWork`. Must pass `idempotencyStoreContract`. */
export interface IdempotencyStore {
  /** Returns the live record: still executing, or `expiresAt > now`. */
  find(id: string, now: EpochMs): Promise<IdempotencyRecord | undefined>
  /** Returns the `runId` of each live record with one of the ids, in no particular order. */
  runIds(ids: readonly string[], now: EpochMs): Promise<readonly string[]>
  /**
   * Whether a live record may still have an id in the format of releases before schema version 18: 64 hex digits, a
   * hash that includes the key. After the first false, every later result is false. An adapter that never stored such
   * ids returns false.
   */
  holdsLegacyIds(now: EpochMs): Promise<boolean>
}
