import type { EpochMs } from './clock.ts'

/** What was done or refused, by whom; without `seq` and hashes, which the storage gives it. Plain JSON, never a secret. */
export interface NewAuditEntry {
  readonly at: EpochMs
  readonly actor: {
    readonly kind: 'token' | 'anonymous' | 'system'
    readonly id?: string | undefined
    readonly subject: string
  }
  readonly action: string // `runs.replay`, `approvals.resolve`, …: the id of the operation, where there is one
  readonly method?: string | undefined
  readonly route?: string | undefined // pattern, not the path
  readonly target?: string | undefined
  readonly decision: 'allowed' | 'denied'
  readonly status?: number | undefined
  readonly durationMs?: number | undefined
  readonly requestId?: string | undefined
  readonly ip?: string | undefined
  readonly detail?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** A row of the chain exactly as it is stored, also where somebody has tampered with it. */
export interface AuditLink {
  readonly seq: number // from 1, without gaps
  readonly prevHash: string // of the entry before; 64 zeros for the first
  readonly hash: string // SHA-256 of prevHash and `entry`, lower-case hex
  readonly entry: string // RFC 8785 JSON of all members but the hashes and this one
}

/** One link of the chain. */
export interface AuditEntry extends NewAuditEntry, AuditLink {}

/** A place in the chain and the HMAC that vouches for it. */
export interface AuditHead {
  readonly seq: number
  readonly hash: string
  readonly mac: string
}

/** Where the chain stands; `undefined` where a row is not there. */
export interface AuditState {
  /** The newest row. */
  readonly last: Pick<AuditLink, 'seq' | 'hash'> | undefined
  /** What the last commit said is the newest. */
  readonly head: AuditHead | undefined
  /** The newest entry that retention has removed. */
  readonly base: AuditHead | undefined
}

/** An entry that was committed with its deed and is yet to be moved to the chain of another database. */
export interface StagedAuditEntry {
  readonly key: string
  readonly entry: NewAuditEntry
}

/** Port. Reads of the audit chain; appended to through `UnitOfWork`. Passes `auditLogContract`. */
export interface AuditLog {
  /** The next entries after a place, oldest first. @throws when an entry is no longer JSON. */
  read(range: { readonly afterSeq: number; readonly limit: number }): Promise<readonly AuditEntry[]>
  /** The newest entries before a place (exclusive), newest first. @throws as `read` */
  readBefore(range: { readonly beforeSeq: number; readonly limit: number }): Promise<readonly AuditEntry[]>
  /** As `read`, without looking inside. */
  links(range: { readonly afterSeq: number; readonly limit: number }): Promise<readonly AuditLink[]>
  /** One consistent look. */
  state(): Promise<AuditState>
  /** What is staged, in the order of commits. */
  staged(limit: number): Promise<readonly StagedAuditEntry[]>
}
