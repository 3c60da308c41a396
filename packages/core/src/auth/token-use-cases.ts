import {
  type EpochMs,
  type Page,
  type PageQuery,
  perdureError,
  plusMs,
  type TokenRecord,
  type TokenStore,
  type WebhookStore,
} from '@perdure/ports'
import { ADMIN_SCOPE, type TokenEnv } from '@perdure/protocol'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { type CommitOnceDeps, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { checkAttenuation, escalationDenied } from './attenuation.ts'
import { mayReadToken } from './authorize.ts'
import { isExpired, readCallerTokens } from './caller-token.ts'
import { isJwtPrincipal } from './jwt-credential.ts'
import { type NewToken, type NewTokenDeps, newToken } from './new-token.ts'
import { checkUnreserved, type Principal } from './principal.ts'
import { type IsRegistered, scopeWarnings } from './scope-warnings.ts'
import { mintsOnlySessions, sessionSubject } from './session-grant.ts'
import { renderToken, type TokenResource } from './token-resource.ts'
import { webhooksOfToken } from './webhooks-of-token.ts'

export interface TokenUseCasesDeps extends CommitOnceDeps, NewTokenDeps {
  readonly tokens: TokenStore
  readonly webhooks: Pick<WebhookStore, 'list'>
  readonly basePath: string
  readonly isRegistered: IsRegistered
}

interface KeyedChange {
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

export interface MintTokenRequest extends KeyedChange {
  readonly name: string
  readonly scopes: readonly string[]
  readonly subject?: string | undefined
  readonly env?: TokenEnv | undefined
  readonly expiresAt?: string | undefined // ISO-8601
}

export interface RotateTokenRequest extends KeyedChange {
  readonly tokenId: string
  /** How long the old token stays valid alongside the new token; default 0. */
  readonly graceSeconds?: number | undefined
  readonly expiresAt?: string | undefined // ISO-8601
}

/**
 * Token management over the API. No token gets more scopes or a later expiry than the token that creates it; a token
 * that a session of the console creates may outlive the session only if the user has signed in recently. Every
 * change writes an audit entry.
 */
export interface TokenUseCases {
  list(page: PageQuery): Promise<Page<TokenResource>>
  /** @throws PerdureError `token-not-found` */
  get(id: string): Promise<TokenResource>
  /** The caller's own token. @throws PerdureError `token-not-found` if the caller has none */
  self(principal: Principal): Promise<TokenResource>
  /**
   * The reply warns of each scope that names an agent or workflow that is not registered.
   *
   * @throws PerdureError `scope-escalation-denied`, `validation-failed`, `audit-unavailable`
   */
  mint(request: MintTokenRequest): Promise<Reply>
  /**
   * Replaces a token with one that has the same name, subject and scopes. Tokens that the old token created become
   * children of the new token and expire no later than the new token. A token that the caller may neither read nor
   * rotate counts as missing.
   *
   * @throws PerdureError `token-not-found`, `token-not-active`, `scope-escalation-denied`, `validation-failed`,
   *   `audit-unavailable`
   */
  rotate(request: RotateTokenRequest): Promise<Reply>
  /**
   * Revokes a token and its descendants. The reply lists the webhooks that end with them. A token that the caller may neither read nor revoke counts as missing.
   *
   * @throws PerdureError `token-not-found`, `scope-escalation-denied`, `audit-unavailable`
   */
  revoke(request: KeyedChange & { readonly tokenId: string }): Promise<Reply>
}

export function createTokenUseCases(deps: TokenUseCasesDeps): TokenUseCases {
  const { tokens, clock, basePath, isRegistered } = deps

  const find = async (id: string): Promise<TokenRecord> => {
    const token = await tokens.find(id)
    if (token === undefined) throw perdureError('token-not-found')
    return token
  }

  const commit = async ({ key }: KeyedChange, decide: () => Promise<Decision>): Promise<Reply> => {
    const outcome = await requireAudit(() => commitOnce(deps, key, decide))
    return outcome.kind === 'replayed' ? outcome.reply : outcome.decision.reply
  }

  const createdReply = ({ token, record }: NewToken): Reply => {
    const warnings = scopeWarnings(record.scopes, isRegistered)
    return {
      status: 201,
      body: { ...renderToken(record), token, ...(warnings.length === 0 ? {} : { warnings }) },
      location: `${basePath}/tokens/${record.id}`,
    }
  }

  const audit = (principal: Principal, action: string, target: string) =>
    auditWrite(principal, { at: clock.now(), action, target })

  const mint = async ({ principal, key: _, expiresAt, ...request }: MintTokenRequest): Promise<Decision> => {
    const isForUser = mintsOnlySessions(principal)
    if (!isForUser) checkUnreserved(request.subject)
    const subject = isForUser ? sessionSubject(principal, { ...request, expiresAt }, clock.now()) : request.subject
    const { creator, session, limiting } = await readCallerTokens(deps, principal)
    const minted = newToken(
      deps,
      { ...request, subject, expiresAt: expiryWithin(expiresAt, limiting, { session }) },
      { createdBy: session?.id ?? principal.subject, parentId: creator?.id },
    )
    const { record } = minted
    // A new subject owns nothing yet, so the token's `own` scopes allow nothing beyond the caller's scopes.
    if (!isForUser) checkAttenuation(principal, { scopes: record.scopes, subject: subject ?? principal.subject })
    return {
      writes: [{ type: 'token.insert', token: record }, audit(principal, 'tokens.create', record.id)],
      reply: createdReply(minted),
      remember: true,
    }
  }

  const rotate = async (request: RotateTokenRequest): Promise<Decision> => {
    const { principal, tokenId, graceSeconds = 0 } = request
    const now = clock.now()
    const old = await find(tokenId)
    const { creator, session, limiting } = await readCallerTokens(deps, principal)
    if (creator?.id !== old.id) hideUnlessReadable(principal, old, () => checkAttenuation(principal, old))
    if (!isActive(old, now)) throw perdureError('token-not-active', { hint: 'create a new token instead' })
    const parent = old.parentId === undefined ? undefined : await tokens.find(old.parentId)
    const within = parent === undefined || mayReadToken(principal, parent.id) ? {} : { hidden: parent }
    const expiresAt = expiryWithin(request.expiresAt, [...limiting, parent], {
      ...{ ...within, session, fallback: old.expiresAt },
    })
    const { name, scopes, subject, env, parentId, caller } = old
    const createdBy = session?.id ?? principal.subject
    const minted = newToken(deps, { name, scopes, subject, env, expiresAt, caller }, { createdBy, parentId })
    const { record } = minted
    const until = plusMs(now, graceSeconds * 1_000)
    return {
      writes: [
        { type: 'token.insert', token: record },
        { type: 'token.retire', id: old.id, replacedBy: record.id, at: now, until },
        audit(principal, 'tokens.rotate', old.id),
      ],
      reply: createdReply(minted),
      remember: true,
    }
  }

  const revoke = async (principal: Principal, tokenId: string): Promise<Decision> => {
    const token = await find(tokenId)
    hideUnlessReadable(principal, token, () => {
      if (!token.scopes.includes(ADMIN_SCOPE) || principal.scopes.includes(ADMIN_SCOPE)) return
      throw escalationDenied(`only a token with ${ADMIN_SCOPE} can revoke a token with ${ADMIN_SCOPE}`)
    })
    const webhooks = await webhooksOfToken(deps, tokenId)
    return {
      writes: [{ type: 'token.revoke', id: tokenId, at: clock.now() }, audit(principal, 'tokens.revoke', tokenId)],
      reply: webhooks.length === 0 ? { status: 204 } : { status: 200, body: { id: tokenId, webhooks } },
      remember: true,
    }
  }

  return {
    async list(page) {
      const { items, nextCursor } = await tokens.list(page)
      return { items: items.map(renderToken), nextCursor }
    },
    get: async (id) => renderToken(await find(id)),
    async self(principal) {
      const { tokenId } = principal
      if (tokenId === undefined) throw perdureError('token-not-found', { hint: 'send the request with a token' })
      if (isJwtPrincipal(principal))
        throw perdureError('token-not-found', { hint: 'a JWT is not a token of this server' })
      return renderToken(await find(tokenId))
    },
    mint: (request) => commit(request, () => mint(request)),
    rotate: (request) => commit(request, () => rotate(request)),
    revoke: (request) => commit(request, () => revoke(request.principal, request.tokenId)),
  }
}

/** @throws PerdureError the error of `check`, or `token-not-found` if the caller may not read the token */
function hideUnlessReadable(principal: Principal, { id }: TokenRecord, check: () => void): void {
  try {
    check()
  } catch (error) {
    throw mayReadToken(principal, id) ? error : perdureError('token-not-found')
  }
}

const isActive = (token: TokenRecord, now: EpochMs) =>
  token.revokedAt === undefined && token.replacedBy === undefined && !isExpired(token, now)

interface ExpiryOptions {
  readonly fallback?: EpochMs | undefined
  readonly hidden?: TokenRecord | undefined
  readonly session?: TokenRecord | undefined
}

/**
 * The expiry of a new token: the requested time, or else the fallback, but no later than any of `limitingTokens`. The
 * error does not show the expiry of `hidden`, which the caller may not read.
 *
 * @throws PerdureError `scope-escalation-denied` if the requested time is later than this limit
 */
function expiryWithin(
  requested: string | undefined,
  limitingTokens: readonly (TokenRecord | undefined)[],
  { fallback, hidden, session }: ExpiryOptions,
): number | undefined {
  const limit = Math.min(...limitingTokens.map((token) => token?.expiresAt ?? Number.POSITIVE_INFINITY))
  if (requested === undefined) {
    const expiresAt = Math.min(limit, fallback ?? Number.POSITIVE_INFINITY)
    return Number.isFinite(expiresAt) ? expiresAt : undefined
  }
  const expiresAt = Date.parse(requested)
  if (expiresAt <= limit) return expiresAt
  const shown = hidden?.expiresAt === limit ? 'the expiry of the parent token' : new Date(limit).toISOString()
  const hint = session?.expiresAt === limit ? 'to create a token that outlives this session, sign in again' : undefined
  throw escalationDenied(`expiresAt must not be later than ${shown}`, hint)
}
