import {
  type Clock,
  type Digest,
  type EpochMs,
  type IdGenerator,
  type JsonText,
  perdureError,
  type TokenRecord,
} from '@perdure/ports'
import { formatToken, isGrantable, type TokenEnv } from '@perdure/protocol'
import { isSubjectName, SUBJECT_NAME_RULE } from './principal.ts'
import { type CredentialKind, tokenDigest } from './token-digest.ts'

export interface NewTokenDeps {
  readonly digest: Digest
  readonly clock: Clock
  readonly ids: IdGenerator
  /** The current pepper, followed by earlier peppers. */
  readonly peppers: readonly Uint8Array[]
}

export interface MintToken {
  readonly name: string
  readonly scopes: readonly string[]
  /** The subject that the token authenticates; defaults to the token id. */
  readonly subject?: string | undefined
  readonly env?: TokenEnv | undefined // default: 'live'
  readonly expiresAt?: number | undefined // epoch milliseconds
  readonly kind?: CredentialKind | undefined // default: 'bearer'
  /** Facts about the user, as `toCallerText` writes it. */
  readonly caller?: JsonText | undefined
}

/** The token text, which is shown once, and the record with its digest. */
export interface NewToken {
  readonly token: string
  readonly record: TokenRecord
}

/** Generates a token and its record without storing it. @throws PerdureError `validation-failed` */
export function newToken(
  { digest, clock, ids, peppers }: NewTokenDeps,
  request: MintToken,
  origin: Pick<TokenRecord, 'createdBy' | 'parentId'>,
): NewToken {
  const now = clock.now()
  checkMint(request, now)
  const [pepper] = peppers
  if (pepper === undefined)
    throw refusal('auth.kind is none, so there are no tokens', 'set auth.kind to token, and set auth.pepperRef')
  const id = ids.newId('token')
  const env = request.env ?? 'live'
  const token = formatToken(env, ids.randomBytes(32))
  const record: TokenRecord = {
    id,
    digest: tokenDigest(digest, pepper, { token, kind: request.kind ?? 'bearer' }),
    name: request.name,
    subject: request.subject ?? id,
    caller: request.caller,
    env,
    scopes: [...new Set(request.scopes)],
    createdAt: now,
    expiresAt: request.expiresAt as EpochMs | undefined,
    last4: token.slice(-4),
    ...origin,
  }
  return { token, record }
}

const MAX_SCOPES = 64

function checkMint({ name, scopes, subject, expiresAt }: MintToken, now: EpochMs): void {
  if (name.length < 1 || name.length > 128) {
    throw refusal('name must have 1 to 128 characters', 'give the token a short name')
  }
  if (subject !== undefined && !isSubjectName(subject)) {
    throw refusal(`subject ${SUBJECT_NAME_RULE}`, 'use a stable id for the caller')
  }
  if (scopes.length < 1 || scopes.length > MAX_SCOPES) {
    throw refusal(`scopes must have 1 to ${MAX_SCOPES} entries`, 'list the scopes that the token needs')
  }
  const unknown = scopes.filter((scope) => !isGrantable(scope))
  if (unknown.length > 0) {
    throw refusal(`unknown scope ${unknown.join(', ')}`, 'use scopes from the scopes reference')
  }
  if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > now)) {
    throw refusal('expiresAt must be in the future', 'pass a later time, or omit expiresAt')
  }
}

const refusal = (message: string, hint: string) => perdureError('validation-failed', { message, hint })
