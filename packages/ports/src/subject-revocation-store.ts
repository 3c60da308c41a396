import type { EpochMs } from './clock.ts'

/** Ends the credentials of a subject that were issued up to a time. */
export interface SubjectRevocation {
  readonly subject: string
  /** Credentials that were issued at this time or earlier are refused; epoch milliseconds. */
  readonly issuedUntil: EpochMs
  readonly revokedAt: EpochMs
  readonly revokedBy: string // subject of the caller, or `cli`
}

export type SubjectWrite =
  /**
   * Stores the revocation unless a stored one of the subject covers as much or more. Also revokes, like `token.revoke`, the
   * tokens of the subject that were created at `issuedUntil` or earlier. Never conflicts; its count is the number of
   * revoked tokens.
   */
  { readonly type: 'subject.revoke'; readonly revocation: SubjectRevocation }

/** Port. Reads revocations; every write goes through `UnitOfWork`. Must pass `subjectRevocationStoreContract`. */
export interface SubjectRevocationStore {
  /** Returns the revocations of these subjects, each once, in any order; subjects without one are left out. */
  find(subjects: readonly string[]): Promise<readonly SubjectRevocation[]>
}
