import {
  AppError,
  type Clock,
  type Digest,
  type EpochMs,
  type IdGenerator,
  type Page,
  type PageQuery,
  type TokenRecord,
  type TokenStore,
  type UnitOfWork,
} from '@berth/ports'
import { formatToken, ID_PREFIXES, isGrantable, type TokenEnv } from '@berth/protocol'

export interface ManageTokensDeps {
  readonly tokens: TokenStore
  readonly unitOfWork: UnitOfWork
  readonly digest: Digest
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly pepper: Uint8Array
}

export interface MintToken {
  readonly name: string
  readonly scopes: readonly string[]
  /** Who the token speaks for; its own id when missing. */
  readonly subject?: string | undefined
  readonly env?: TokenEnv | undefined // 'live' when missing
  readonly expiresAt?: number | undefined // epoch milliseconds
}

export interface ManageTokens {
  /** Creates a token; the text is returned once and never stored. @throws AppError `validation-failed` */
  mint(request: MintToken, createdBy: string): Promise<{ readonly token: string; readonly record: TokenRecord }>
  list(page: PageQuery): Promise<Page<TokenRecord>>
  /** Revokes at once and for good; revoking again changes nothing. @throws AppError `token-not-found` */
  revoke(id: string): Promise<TokenRecord>
}

const MAX_SCOPES = 64

export function createManageTokens(deps: ManageTokensDeps): ManageTokens {
  const { tokens, unitOfWork, digest, clock, ids, pepper } = deps
  return {
    async mint(request, createdBy) {
      checkMint(request, clock.now())
      const id = ids.newId('token')
      const env = request.env ?? 'live'
      const token = formatToken(env, ids.randomBytes(32))
      const record: TokenRecord = {
        id,
        digest: digest.hmacSha256(pepper, token),
        name: request.name,
        subject: request.subject ?? id,
        env,
        scopes: [...new Set(request.scopes)],
        createdAt: clock.now(),
        createdBy,
        expiresAt: request.expiresAt as EpochMs | undefined,
        last4: token.slice(-4),
      }
      const outcome = await unitOfWork.commit([{ type: 'token.insert', token: record }])
      if (!outcome.committed) throw new AppError('internal-error', { message: 'a fresh token id was taken' })
      return { token, record }
    },

    list: (page) => tokens.list(page),

    async revoke(id) {
      const outcome = await unitOfWork.commit([{ type: 'token.revoke', id, at: clock.now() }])
      const record = outcome.committed ? await tokens.find(id) : undefined
      if (record === undefined) throw new AppError('token-not-found', { hint: `ids start with ${ID_PREFIXES.token}_` })
      return record
    },
  }
}

function checkMint({ name, scopes, subject, expiresAt }: MintToken, now: EpochMs): void {
  const refuse = (message: string, hint: string) => {
    throw new AppError('validation-failed', { message, hint })
  }
  if (name.length < 1 || name.length > 128) refuse('name must have 1 to 128 characters', 'give the token a short name')
  if (subject !== undefined && !/^[!-~]{1,128}$/.test(subject)) {
    refuse('subject must have 1 to 128 visible ASCII characters', 'use a stable id of the caller')
  }
  if (scopes.length < 1 || scopes.length > MAX_SCOPES)
    refuse(`a token has 1 to ${MAX_SCOPES} scopes`, 'list its scopes')
  const unknown = scopes.filter((scope) => !isGrantable(scope))
  if (unknown.length > 0)
    refuse(`unknown scope ${unknown.join(', ')}`, 'see the scopes reference for what can be granted')
  if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > now)) {
    refuse('expiresAt must be an instant in the future', 'give epoch milliseconds or leave it out')
  }
}
