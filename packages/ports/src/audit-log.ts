import type { EpochMs } from './clock.ts'

/**
 * An allowed or denied action and its actor. The storage adds `seq` and the hashes. Plain JSON, never a secret.
 */
export interface NewAuditEntry {
  readonly at: EpochMs
  readonly actor: {
    readonly kind: 'token' | 'anonymous' | 'system'
    readonly id?: string | undefined
    readonly subject: string
  }
  readonly action: string // id of the operation, if there is one: `runs.replay`, `approvals.resolve`, …
  readonly method?: string | undefined
  readonly route?: string | undefined // route pattern, not the path
  readonly target?: string | undefined
  readonly decision: 'allowed' | 'denied'
  readonly status?: number | undefined
  readonly durationMs?: number | undefined
  readonly requestId?: string | undefined
  readonly ip?: string | undefined
  readonly detail?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** A row of the chain exactly as it is stored, even if somebody has tampered with it. */
export interface AuditLink {
  readonly seq: number // from 1, without gaps
  readonly prevHash: string // hash of the previous entry; 64 zeros for the first
  readonly hash: string // SHA-256 of prevHash and `entry`, lower-case hex
  readonly entry: string // RFC 8785 JSON of all members except the hashes and `entry` itself
}

/** One link of the chain. */
export interface AuditEntry extends NewAuditEntry, AuditLink {}

/** A location in the chain and the HMAC that authenticates it. */
export interface AuditHead {
  readonly seq: number
  readonly hash: string
  readonly mac: string
}

/** The current state of the chain; a member is `undefined` when its row does not exist. */
export interface AuditState {
  /** The newest row. */
  readonly last: Pick<AuditLink, 'seq' | 'hash'> | undefined
  /** The row that the last commit to the chain signed as the newest. */
  readonly head: AuditHead | undefined
  /** The newest entry that retention has removed. */
  readonly base: AuditHead | undefined
}

/**
 * An entry that was committed together with the action it records, but has not yet been moved to the audit chain, which
 * is in another database.
 */
export interface StagedAuditEntry {
  readonly key: string
  readonly entry: NewAuditEntry
}

/** Port. Reads the audit chain; every write goes through `UnitOfWork`. Must pass `auditLogContract`. */
export interface AuditLog {
  /** Reads the entries after a `seq` (exclusive), oldest first. @throws if an entry is no longer JSON */
  read(range: { readonly afterSeq: number; readonly limit: number }): Promise<readonly AuditEntry[]>
  /** Reads the entries before a `seq` (exclusive), newest first. @throws like `read` */
  readBefore(range: { readonly beforeSeq: number; readonly limit: number }): Promise<readonly AuditEntry[]>
  /** Like `read`, but does not parse the entries. */
  links(range: { readonly afterSeq: number; readonly limit: number }): Promise<readonly AuditLink[]>
  /** Reads the state in one consistent snapshot. */
  state(): Promise<AuditState>
  /** Lists the staged entries in commit order. */
  staged(limit: number): Promise<readonly StagedAuditEntry[]>
}
