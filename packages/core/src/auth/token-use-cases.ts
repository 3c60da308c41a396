import {
  AppError,
  type EpochMs,
  type Page,
  type PageQuery,
  plusMs,
  type TokenRecord,
  type TokenStore,
} from '@perdure/ports'
import { ADMIN_SCOPE, type TokenEnv } from '@perdure/protocol'
import { auditWrite } from '../audit/audit-write.ts'
import { recording } from '../audit/recording.ts'
import { type CommitOnceDeps, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { checkAttenuation, escalation } from './attenuation.ts'
import { type NewToken, type NewTokenDeps, newToken } from './new-token.ts'
import type { Principal } from './principal.ts'
import { renderToken, type TokenResource } from './token-resource.ts'

export interface TokenUseCasesDeps extends CommitOnceDeps, NewTokenDeps {
  readonly tokens: TokenStore
  readonly basePath: string
}

interface Change {
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

export interface MintTokenRequest extends Change {
  readonly name: string
  readonly scopes: readonly string[]
  readonly subject?: string | undefined
  readonly env?: TokenEnv | undefined
  readonly expiresAt?: string | undefined // ISO-8601
}

export interface RotateTokenRequest extends Change {
  readonly tokenId: string
  /** How long the old token stays valid beside the new one; 0 when missing. */
  readonly graceSeconds?: number | undefined
  readonly expiresAt?: string | undefined // ISO-8601
}

/** Tokens over the wire. A caller gives away no more than it has, for no longer; every change is a link of the audit chain. */
export interface TokenUseCases {
  list(page: PageQuery): Promise<Page<TokenResource>>
  /** @throws AppError `token-not-found` */
  get(id: string): Promise<TokenResource>
  /** The token of the caller. @throws AppError `token-not-found` without one */
  self(principal: Principal): Promise<TokenResource>
  /** @throws AppError `scope-escalation-denied`, `validation-failed`, `audit-unavailable` */
  mint(request: MintTokenRequest): Promise<Reply>
  /**
   * Replaces a token by one of the same name, subject and scopes; what it has minted descends from the new one, and
   * expires with it at the latest.
   *
   * @throws AppError `token-not-found`, `token-not-active`, `scope-escalation-denied`, `validation-failed`, `audit-unavailable`
   */
  rotate(request: RotateTokenRequest): Promise<Reply>
  /** Revokes a token and all that descend from it. @throws AppError `token-not-found`, `scope-escalation-denied`, `audit-unavailable` */
  revoke(request: Change & { readonly tokenId: string }): Promise<Reply>
}

export function createTokenUseCases(deps: TokenUseCasesDeps): TokenUseCases {
  const { tokens, clock, basePath } = deps

  const find = async (id: string): Promise<TokenRecord> => {
    const token = await tokens.find(id)
    if (token === undefined) throw new AppError('token-not-found')
    return token
  }

  /** The caller's own token, as it is now. It may have been lost since the request began. */
  const callerOf = async ({ tokenId }: Principal): Promise<TokenRecord | undefined> => {
    const caller = tokenId === undefined ? undefined : await tokens.find(tokenId)
    if (caller?.revokedAt !== undefined) throw new AppError('auth-revoked')
    if (isExpired(caller, clock.now())) throw new AppError('auth-expired')
    return caller
  }

  const once = async ({ key }: Change, decide: () => Promise<Decision>): Promise<Reply> => {
    const outcome = await recording(() => commitOnce(deps, key, decide))
    return outcome.kind === 'replayed' ? outcome.reply : outcome.decision.reply
  }

  const shown = ({ token, record }: NewToken): Reply => ({
    status: 201,
    body: { ...renderToken(record), token },
    location: `${basePath}/tokens/${record.id}`,
  })

  const audit = (principal: Principal, action: string, target: string) =>
    auditWrite(principal, { at: clock.now(), action, target })

  const mint = async ({ principal, key: _, expiresAt, ...request }: MintTokenRequest): Promise<Decision> => {
    const caller = await callerOf(principal)
    const minted = newToken(
      deps,
      { ...request, expiresAt: expiryWithin(expiresAt, [caller]) },
      { createdBy: principal.subject, parentId: caller?.id },
    )
    const { record } = minted
    // A subject that is new owns nothing yet, so its `own` is no more than the caller's.
    checkAttenuation(principal, { scopes: record.scopes, subject: request.subject ?? principal.subject })
    return {
      writes: [{ type: 'token.insert', token: record }, audit(principal, 'tokens.create', record.id)],
      reply: shown(minted),
      remember: true,
    }
  }

  const rotate = async (request: RotateTokenRequest): Promise<Decision> => {
    const { principal, tokenId, graceSeconds = 0 } = request
    const now = clock.now()
    const old = await find(tokenId)
    if (!isActive(old, now)) throw new AppError('token-not-active', { hint: 'mint a new token instead' })
    const caller = await callerOf(principal)
    if (caller?.id !== old.id) checkAttenuation(principal, old)
    const parent = old.parentId === undefined ? undefined : await tokens.find(old.parentId)
    const expiresAt = expiryWithin(request.expiresAt, [caller, parent], old.expiresAt)
    const { name, scopes, subject, env, parentId } = old
    const minted = newToken(deps, { name, scopes, subject, env, expiresAt }, { createdBy: principal.subject, parentId })
    const { record } = minted
    const until = plusMs(now, graceSeconds * 1_000)
    return {
      writes: [
        { type: 'token.insert', token: record },
        { type: 'token.retire', id: old.id, replacedBy: record.id, at: now, until },
        audit(principal, 'tokens.rotate', old.id),
      ],
      reply: shown(minted),
      remember: true,
    }
  }

  const revoke = async (principal: Principal, tokenId: string): Promise<Decision> => {
    const token = await find(tokenId)
    if (token.scopes.includes(ADMIN_SCOPE) && !principal.scopes.includes(ADMIN_SCOPE)) {
      throw escalation(`only a token with ${ADMIN_SCOPE} revokes one`)
    }
    return {
      writes: [{ type: 'token.revoke', id: tokenId, at: clock.now() }, audit(principal, 'tokens.revoke', tokenId)],
      reply: { status: 204 },
      remember: true,
    }
  }

  return {
    async list(page) {
      const { items, nextCursor } = await tokens.list(page)
      return { items: items.map(renderToken), nextCursor }
    },
    get: async (id) => renderToken(await find(id)),
    async self({ tokenId }) {
      if (tokenId === undefined) throw new AppError('token-not-found', { hint: 'this request carries no token' })
      return renderToken(await find(tokenId))
    },
    mint: (request) => once(request, () => mint(request)),
    rotate: (request) => once(request, () => rotate(request)),
    revoke: (request) => once(request, () => revoke(request.principal, request.tokenId)),
  }
}

const isExpired = (token: TokenRecord | undefined, now: EpochMs) =>
  token?.expiresAt !== undefined && token.expiresAt <= now

const isActive = (token: TokenRecord, now: EpochMs) =>
  token.revokedAt === undefined && token.replacedBy === undefined && !isExpired(token, now)

/**
 * When the new token ends: as asked, not later than any of the others.
 *
 * @throws AppError `scope-escalation-denied` when more is asked
 */
function expiryWithin(
  asked: string | undefined,
  others: readonly (TokenRecord | undefined)[],
  fallback?: EpochMs,
): number | undefined {
  const limit = Math.min(...others.map((token) => token?.expiresAt ?? Number.POSITIVE_INFINITY))
  if (asked === undefined) {
    const expiresAt = Math.min(limit, fallback ?? Number.POSITIVE_INFINITY)
    return Number.isFinite(expiresAt) ? expiresAt : undefined
  }
  const expiresAt = Date.parse(asked)
  if (expiresAt > limit) throw escalation(`the token would outlive ${new Date(limit).toISOString()}`)
  return expiresAt
}
