import {
  AppError,
  type Clock,
  type Digest,
  type Logger,
  type TokenRecord,
  type TokenStore,
  type UnitOfWork,
} from '@berth/ports'
import { isWellFormedToken } from '@berth/protocol'
import type { Principal } from './principal.ts'

export interface AuthenticateDeps {
  readonly tokens: TokenStore
  readonly unitOfWork: UnitOfWork
  readonly digest: Digest
  readonly clock: Clock
  readonly logger: Logger
  /** The current pepper first, then earlier ones whose tokens stay valid. */
  readonly peppers: readonly Uint8Array[]
}

/** Turns the Authorization header into a principal. @throws AppError `auth-required`, `auth-invalid`, `auth-revoked`, `auth-expired` */
export type Authenticate = (authorization: string | undefined) => Promise<Principal>

const TOUCH_EVERY_MS = 60_000

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const { clock, logger, unitOfWork } = deps

  const touch = (token: TokenRecord) => {
    const at = clock.now()
    if (token.lastUsedAt !== undefined && at - token.lastUsedAt < TOUCH_EVERY_MS) return
    unitOfWork
      .commit([{ type: 'token.touch', id: token.id, at }])
      .catch((error: unknown) => logger.error('token use not recorded', error, { tokenId: token.id }))
  }

  return async (authorization) => {
    const token = await findToken(deps, bearerOf(authorization))
    if (token.revokedAt !== undefined) throw new AppError('auth-revoked')
    if (token.expiresAt !== undefined && token.expiresAt <= clock.now()) throw new AppError('auth-expired')
    touch(token)
    return { subject: token.subject, tokenId: token.id, scopes: token.scopes }
  }
}

/** `auth.kind: 'none'`: whoever reaches the loopback listener may do everything. */
export const authenticateAnyone: Authenticate = async () => ({ subject: 'anonymous', scopes: ['admin:*'] })

function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new AppError('auth-required', { hint: 'send the header Authorization: Bearer <token>' })
  }
  const token = /^bearer ([!-~]{1,256})$/i.exec(authorization)?.[1]
  if (token === undefined || !isWellFormedToken(token)) {
    throw new AppError('auth-invalid', { hint: 'send Authorization: Bearer and a token made by berth token create' })
  }
  return token
}

async function findToken({ tokens, digest, peppers }: AuthenticateDeps, token: string): Promise<TokenRecord> {
  for (const pepper of peppers) {
    const wanted = digest.hmacSha256(pepper, token)
    const record = await tokens.findByDigest(wanted)
    if (record !== undefined && digest.equals(record.digest, wanted)) return record
  }
  throw new AppError('auth-invalid')
}
