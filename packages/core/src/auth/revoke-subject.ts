import { type Clock, type EpochMs, perdureError, type SubjectRevocationStore, type Write } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { JwtCredential } from './jwt-credential.ts'
import { canSignIn, isSubjectName, type Principal } from './principal.ts'

export type SubjectRevocations = Pick<SubjectRevocationStore, 'find'>

/** Whether a JWT was issued before its subject was revoked. */
export async function isJwtRevoked(
  revocations: SubjectRevocations,
  { subject, issuedAt }: Pick<JwtCredential, 'subject' | 'issuedAt'>,
): Promise<boolean> {
  const [revocation] = await revocations.find([subject])
  return revocation !== undefined && issuedAt <= revocation.issuedUntil
}

export interface SubjectToRevoke {
  readonly subject: string
  /** ISO 8601; default: now. */
  readonly issuedUntil?: string | undefined
}

/**
 * The write that revokes the JWTs and the tokens of a user.
 *
 * @throws PerdureError `validation-failed`
 */
export function subjectRevocation(
  { subject, issuedUntil }: SubjectToRevoke,
  { now, by }: { readonly now: EpochMs; readonly by: string },
): Extract<Write, { readonly type: 'subject.revoke' }> {
  if (!isSubjectName(subject) || !canSignIn(subject)) {
    throw refusal('subject must start with jwt:, host: or oidc:', 'revoke any other token by its id')
  }
  const until = issuedUntil === undefined ? now : (Date.parse(issuedUntil) as EpochMs)
  if (!(until <= now)) {
    throw refusal('issuedUntil must not be in the future', 'omit issuedUntil to revoke what was issued until now')
  }
  return { type: 'subject.revoke', revocation: { subject, issuedUntil: until, revokedAt: now, revokedBy: by } }
}

export interface RevokeSubjectRequest extends SubjectToRevoke {
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

/** Revokes what a user can sign in with. @throws PerdureError `validation-failed`, `audit-unavailable` */
export type RevokeSubject = (request: RevokeSubjectRequest) => Promise<Reply>

export function createRevokeSubject(deps: CommitOnceDeps & { readonly clock: Clock }): RevokeSubject {
  return async ({ principal, key, ...request }) => {
    const outcome = await requireAudit(() =>
      commitOnce(deps, key, async () => {
        const now = deps.clock.now()
        const write = subjectRevocation(request, { now, by: principal.subject })
        const { subject, issuedUntil } = write.revocation
        return {
          writes: [write, auditWrite(principal, { at: now, action: 'subjects.revoke', target: subject })],
          reply: { status: 200, body: { subject, issuedUntil: new Date(issuedUntil).toISOString() } },
          remember: true,
        }
      }),
    )
    return outcome.kind === 'replayed' ? outcome.reply : outcome.decision.reply
  }
}

const refusal = (message: string, hint: string) => perdureError('validation-failed', { message, hint })
