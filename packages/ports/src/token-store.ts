import type { TokenEnv } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { JsonText } from './values/json-text.ts'

/** A bearer token without its secret. */
export interface TokenRecord {
  readonly id: string
  readonly digest: string // HMAC-SHA256(pepper, token), lower-case hex; unique
  readonly name: string
  readonly subject: string // the principal: owns what the token creates; unchanged by rotation
  /** What the program that issued the token says about its user; opaque to stores. */
  readonly caller?: JsonText | undefined
  readonly env: TokenEnv
  readonly scopes: readonly string[]
  readonly createdAt: EpochMs
  readonly createdBy: string
  readonly expiresAt?: EpochMs | undefined
  readonly lastUsedAt?: EpochMs | undefined
  readonly revokedAt?: EpochMs | undefined
  readonly last4: string
  /** The token that minted this token; revoking the parent revokes this token. Absent when an operator minted it. */
  readonly parentId?: string | undefined
  /** The token that replaced this token in a rotation. */
  readonly replacedBy?: string | undefined
}

/**
 * Port. Reads tokens, including revoked ones; every write goes through `UnitOfWork`. Must pass `tokenStoreContract`.
 */
export interface TokenStore {
  findByDigest(digest: string): Promise<TokenRecord | undefined>
  find(id: string): Promise<TokenRecord | undefined>
  /** Returns the tokens with these ids, each once, in any order; unknown ids are left out. */
  findMany(ids: readonly string[]): Promise<readonly TokenRecord[]>
  /**
   * Returns the id of the first token in the chain of rotations that leads to this token: the id itself if the token
   * has replaced no other. Tokens that the token minted, and the token that minted it, are not in the chain.
   */
  rootOf(id: string): Promise<string>
  list(page: PageQuery): Promise<Page<TokenRecord>>
}
