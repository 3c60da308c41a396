import { type Clock, type EpochMs, perdureError, type TokenRecord, type UnitOfWork } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { type MintToken, type NewTokenDeps, newToken } from '../auth/new-token.ts'
import type { Principal } from '../auth/principal.ts'

export interface ConsoleSession {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly env: TokenRecord['env'] | null
  readonly expiresAt?: string
}

export interface SignedIn {
  readonly session: ConsoleSession
  /** The value of the session cookie. */
  readonly cookie: string
  readonly maxAgeSeconds: number
}

export interface OpenSessionDeps extends NewTokenDeps {
  readonly clock: Clock
  readonly unitOfWork: UnitOfWork
}

export interface NewSession extends Pick<MintToken, 'scopes' | 'caller' | 'env'> {
  readonly principal: Principal
  /** The token that signed in, with which the session ends; missing for a user of a provider. */
  readonly parentId?: string
  readonly expiresAt: EpochMs
}

/** Stores a session, which is a token that is accepted only as a cookie. @throws PerdureError `auth-revoked`, `audit-unavailable` */
export async function openSession(
  deps: OpenSessionDeps,
  { principal, parentId, expiresAt, ...rights }: NewSession,
): Promise<SignedIn> {
  const now = deps.clock.now()
  const { subject } = principal
  const { record, token } = newToken(
    deps,
    { ...rights, name: 'console', subject, expiresAt, kind: 'cookie' },
    { createdBy: subject, parentId },
  )
  const outcome = await requireAudit(() =>
    deps.unitOfWork.commit([
      { type: 'token.insert', token: record },
      auditWrite(principal, { at: now, action: 'console.sign-in', target: record.id }),
    ]),
  )
  // The token was revoked after it was checked.
  if (!outcome.committed) throw perdureError('auth-revoked')
  return {
    session: sessionOf(principal, record),
    cookie: token,
    maxAgeSeconds: Math.floor((expiresAt - now) / 1_000),
  }
}

export const sessionOf = ({ subject, scopes }: Principal, token: TokenRecord | undefined): ConsoleSession => ({
  subject,
  scopes,
  env: token?.env ?? null,
  ...(token?.expiresAt === undefined ? {} : { expiresAt: new Date(token.expiresAt).toISOString() }),
})
