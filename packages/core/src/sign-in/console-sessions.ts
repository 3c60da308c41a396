import {
  type Clock,
  type EpochMs,
  isRefusal,
  perdureError,
  plusMs,
  type TicketStore,
  type TokenRecord,
  type TokenStore,
} from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import type { Authenticate } from '../auth/authenticate.ts'
import { isExpired } from '../auth/caller-token.ts'
import { isJwtPrincipal } from '../auth/jwt-credential.ts'
import type { AttemptLimiter } from '../auth/lockout.ts'
import type { NewTokenDeps } from '../auth/new-token.ts'
import type { Principal } from '../auth/principal.ts'
import type { SubjectRevocations } from '../auth/revoke-subject.ts'
import { renderToken, type TokenResource } from '../auth/token-resource.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { createTickets } from '../realtime/tickets.ts'
import { type ConsoleSession, openSession, type SignedIn, sessionOf } from './console-session.ts'

export interface ConsoleSessionsDeps extends CommitOnceDeps, NewTokenDeps {
  readonly clock: Clock
  readonly tokens: Pick<TokenStore, 'find' | 'list'>
  readonly subjectRevocations: SubjectRevocations
  /** Codes are stored like WebSocket tickets, and count against the same limits. */
  readonly ticketStore: TicketStore
  /** Whether other processes take codes from the store, so that it uses the clock that they share. */
  readonly areTicketsShared: boolean
  readonly attempts: AttemptLimiter
  readonly authenticate: Authenticate
  readonly maxTicketsPerToken: number
}

/** A credential, and the request that carries it. */
export interface SignInRequest {
  /** Either a code or a token. */
  readonly credential: { readonly code?: string | undefined; readonly token?: string | undefined }
  readonly clientAddress: string
  readonly origin: Principal['origin']
}

export type CreatedToken = Pick<TokenResource, 'id' | 'name' | 'expiresAt'>

/**
 * Sessions of the web console. A session is a token of its own: minted with the scopes of the token that signed in,
 * revoked together with that token, and accepted only as a cookie.
 */
export interface ConsoleSessions {
  /**
   * Issues a code that signs in once, as the caller.
   *
   * @throws PerdureError `validation-failed` for a caller without a token; `ticket-limit-exceeded`
   */
  issueCode(request: { readonly principal: Principal; readonly key?: KeyedRequest | undefined }): Promise<Reply>
  /** @throws PerdureError `auth-invalid`, `auth-revoked`, `auth-expired`, `auth-locked-out`, `audit-unavailable` */
  signIn(request: SignInRequest): Promise<SignedIn>
  read(principal: Principal): Promise<ConsoleSession>
  /**
   * Revokes the session, and returns the tokens that it created and that are still valid. Does nothing for a caller who
   * has sent a bearer token.
   */
  signOut(principal: Principal): Promise<readonly CreatedToken[]>
}

const CODE_TTL_MS = 300_000
const PAGE_SIZE = 200
const SESSION_MS = 12 * 3_600_000

/** A WebSocket ticket must not sign in, and a code must not open a WebSocket. */
const codeDigest = (digest: Pick<ConsoleSessionsDeps['digest'], 'sha256'>) => ({
  sha256: (code: string) => digest.sha256(`console-code:${code}`),
})

export function createConsoleSessions(deps: ConsoleSessionsDeps): ConsoleSessions {
  const { clock, tokens, unitOfWork, authenticate } = deps
  const codes = createTickets({
    ...deps,
    digest: codeDigest(deps.digest),
    store: deps.ticketStore,
    now: deps.areTicketsShared ? clock.now : clock.monotonicMs,
    ttlMs: CODE_TTL_MS,
    maxPerToken: deps.maxTicketsPerToken,
  })

  const principalOf = async ({ credential, clientAddress }: SignInRequest): Promise<Principal> => {
    const { code = '', token } = credential
    if (token !== undefined) return withToken(await authenticate(`Bearer ${token}`, clientAddress))
    return codes.redeem(code, undefined, clientAddress).catch((error: unknown) => {
      if (!isRefusal(error) || error.code !== 'auth-invalid') throw error
      throw perdureError('auth-invalid', {
        message: 'the code is unknown, expired or already used',
        hint: 'run perdure console for a new code, or sign in with a token',
      })
    })
  }

  /** A session is a child of the token that signs in. */
  const withToken = (principal: Principal): Principal => {
    if (!isJwtPrincipal(principal)) return principal
    throw perdureError('auth-invalid', {
      message: 'the console does not accept JWTs',
      hint: 'sign in with a token from perdure token create',
    })
  }

  const tokenOf = async ({ tokenId }: Principal): Promise<TokenRecord | undefined> =>
    tokenId === undefined ? undefined : tokens.find(tokenId)

  return {
    async issueCode({ principal, key }) {
      if (principal.tokenId === undefined || isJwtPrincipal(principal)) {
        throw perdureError('validation-failed', {
          message: 'the caller has no token, and a code signs in with the scopes of a token',
          hint: 'with auth.kind none, open the console without a code',
        })
      }
      const once = await commitOnce(deps, key, async () => {
        const { ticket, expiresAt, ttlMs } = await codes.issue(principal, undefined)
        const body = { code: ticket, expiresAt: new Date(expiresAt).toISOString(), ttlMs }
        return { writes: [], reply: { status: 201, body }, remember: true }
      })
      return once.kind === 'replayed' ? once.reply : once.decision.reply
    },

    async signIn(request) {
      const principal = { ...(await principalOf(request)), origin: request.origin }
      const parent = await tokenOf(principal)
      if (parent === undefined) {
        throw perdureError('validation-failed', {
          message: 'auth.kind is none, so the console needs no session',
          hint: 'open the console without a code',
        })
      }
      const now = clock.now()
      const until = plusMs(now, SESSION_MS)
      const expiresAt = parent.expiresAt === undefined || parent.expiresAt > until ? until : parent.expiresAt
      const { scopes, env, caller, id: parentId } = parent
      return openSession(deps, { principal, parentId, scopes, env, caller, expiresAt })
    },

    read: async (principal) => sessionOf(principal, await tokenOf(principal)),

    async signOut(principal) {
      const { browserSession } = principal
      if (browserSession === undefined) return []
      const at = clock.now()
      await requireAudit(() =>
        unitOfWork.commit([
          { type: 'token.revoke', id: browserSession, at },
          auditWrite(principal, { at, action: 'console.sign-out', target: browserSession }),
        ]),
      )
      const session = await tokens.find(browserSession)
      return session === undefined ? [] : validTokensOf(tokens, session, at)
    },
  }
}

/** Walks back through the tokens to the sign-in, at most 12 hours. */
async function validTokensOf(
  tokens: Pick<TokenStore, 'list'>,
  { id: sessionId, createdAt }: TokenRecord,
  now: EpochMs,
): Promise<readonly CreatedToken[]> {
  const found: TokenRecord[] = []
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await tokens.list({ limit: PAGE_SIZE, order: 'desc', cursor })
    const isDone = items.some((token) => token.createdAt < createdAt)
    found.push(...items.filter((token) => token.createdBy === sessionId && token.revokedAt === undefined))
    cursor = isDone ? undefined : (nextCursor ?? undefined)
  } while (cursor !== undefined)
  return found
    .filter((token) => !isExpired(token, now))
    .map(renderToken)
    .map(({ id, name, expiresAt }) => ({ id, name, expiresAt }))
}
