import type { TokenEnv } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'

/** A bearer token without its secret. */
export interface TokenRecord {
  readonly id: string
  readonly digest: string // HMAC-SHA256(pepper, token), lower-case hex; unique
  readonly name: string
  readonly subject: string // who it speaks for; owns what it creates, survives rotation
  readonly env: TokenEnv
  readonly scopes: readonly string[]
  readonly createdAt: EpochMs
  readonly createdBy: string
  readonly expiresAt?: EpochMs | undefined
  readonly lastUsedAt?: EpochMs | undefined
  readonly revokedAt?: EpochMs | undefined
  readonly last4: string
  /** The token that minted it; revoking that one revokes this one. Absent when an operator minted it. */
  readonly parentId?: string | undefined
  /** The token that took its place by a rotation. */
  readonly replacedBy?: string | undefined
}

/** Port. Reads of tokens, revoked ones included; written through `UnitOfWork`. Passes `tokenStoreContract`. */
export interface TokenStore {
  findByDigest(digest: string): Promise<TokenRecord | undefined>
  find(id: string): Promise<TokenRecord | undefined>
  /** The tokens of these ids, in any order, each once; unknown ids are left out. */
  findMany(ids: readonly string[]): Promise<readonly TokenRecord[]>
  list(page: PageQuery): Promise<Page<TokenRecord>>
}
