/** Selects one page of a list. `cursor` is opaque to callers and comes from the same adapter. */
export interface PageQuery {
  readonly limit: number // 1 to 200
  readonly cursor?: string | undefined
  readonly order: 'asc' | 'desc' // by creation
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}
