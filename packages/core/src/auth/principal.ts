/** Who is asking. */
export interface Principal {
  /** Owns what it creates; stable across token rotation. */
  readonly subject: string
  readonly tokenId?: string
  readonly scopes: readonly string[]
}
