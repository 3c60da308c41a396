import type { EpochMs } from './clock.ts'

/** What was done, by whom; without `seq` and hashes, which the storage gives it. Plain JSON, never a secret. */
export interface NewAuditEntry {
  readonly at: EpochMs
  readonly actor: {
    readonly kind: 'token' | 'anonymous' | 'system'
    readonly id?: string | undefined
    readonly subject: string
  }
  readonly action: string // `runs.replay`, `approvals.resolve`, …
  readonly target?: string | undefined
  readonly decision: 'allowed' | 'denied'
  readonly requestId?: string | undefined
  readonly detail?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** One link of the chain. */
export interface AuditEntry extends NewAuditEntry {
  readonly seq: number // from 1, without gaps
  readonly prevHash: string // of the entry before; 64 zeros for the first
  readonly hash: string // SHA-256 of prevHash and `entry`, lower-case hex
  readonly entry: string // RFC 8785 JSON of all members but the hashes and this one
}

/** Port. Reads of the audit chain; appended to through `UnitOfWork`. Passes `auditLogContract`. */
export interface AuditLog {
  /** The next entries after a place, oldest first. */
  read(range: { readonly afterSeq: number; readonly limit: number }): Promise<readonly AuditEntry[]>
}
