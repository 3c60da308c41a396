import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

/** One remembered fact. */
export interface FactRecord {
  readonly id: string
  readonly namespace: string
  readonly owner: string
  readonly text: string
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly importance: number // 0 to 1
  readonly weighedAt: EpochMs // when its importance was set or last decayed
  readonly fingerprint: string // equal for texts that say the same thing; computed by core, opaque to stores
  readonly sourceRunId?: string | undefined
  readonly sourceSessionId?: string | undefined
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
  readonly expiresAt?: EpochMs | undefined // from this instant on, no read returns the fact
  readonly revision: number // from 1; incremented by every replacement
}

/** Selects facts that match every given member, are visible and have not expired at `now`. */
export interface FactFilter {
  readonly namespace?: string | undefined
  /** The fact must have all of these tags. */
  readonly tags?: readonly string[] | undefined
  readonly sourceSessionId?: string | undefined
  readonly owner?: string | undefined
  readonly now: EpochMs
  readonly visibility: Visibility
}

/** The unit vector to compare with, and the embedder that produced it: only vectors of one embedder are comparable. */
export interface VectorQuery {
  readonly vector: readonly number[]
  readonly embedder: string
  /** Maximum number of facts to compare, newest first; bounds the time of a search. */
  readonly candidates: number
}

/** Port. Reads facts; every write goes through `UnitOfWork`. Must pass `factStoreContract`. */
export interface FactStore {
  /** Returns the fact if it exists, is visible and has not expired at `now`. */
  find(id: string, at: { readonly now: EpochMs; readonly visibility: Visibility }): Promise<FactRecord | undefined>
  /** Lists facts, ordered by creation (ties by id). */
  list(filter: FactFilter, page: PageQuery): Promise<Page<FactRecord>>
  /**
   * Finds facts whose text contains at least one of the words of `text` (`wordsOf`), best first by BM25: more matching
   * words first, rare words before common ones, short texts before long ones. The order depends only on facts that match
   * the filter: facts that the caller may not see do not change it. Of more than `MAX_SEARCH_CANDIDATES` matching facts,
   * those with the rarest words are found, and the newest of those with the same words. `text` is never interpreted as
   * a query language. At most 64 different words of `text` count; a text without words finds nothing.
   */
  search(text: string, filter: FactFilter, limit: number): Promise<readonly FactRecord[]>
  /** Finds facts with a vector of this embedder whose dot product with `vector` is positive, greatest first. */
  nearest(query: VectorQuery, filter: FactFilter, limit: number): Promise<readonly FactRecord[]>
}

/** Port. Reads facts that need maintenance, whoever owns them. Must pass `factUpkeepContract`. */
export interface FactUpkeep {
  /**
   * Lists groups of facts with the same owner, namespace and fingerprint that have not expired at `now`, oldest fact
   * first. Groups are ordered by `groupKey` and start after `after` (exclusive); with `owner`, only groups of that
   * owner.
   */
  repeated(
    range: { readonly owner?: string | undefined; readonly after?: string | undefined; readonly now: EpochMs },
    limit: number,
  ): Promise<readonly FactGroup[]>
  /** Lists facts with `expiresAt <= now`, earliest first; with `owner`, only facts of that owner. */
  expired(
    range: { readonly owner?: string | undefined; readonly now: EpochMs },
    limit: number,
  ): Promise<readonly FactRecord[]>
  /**
   * Lists facts with positive importance and `weighedAt <= at`, oldest first; with `owner`, only facts of that owner.
   */
  weighedBefore(
    range: { readonly owner?: string | undefined; readonly at: EpochMs },
    limit: number,
  ): Promise<readonly FactRecord[]>
  /** Lists facts that have no vector and are not recorded as impossible to embed, oldest first. */
  unembedded(limit: number): Promise<readonly FactRecord[]>
}

export interface FactGroup {
  readonly groupKey: string // opaque; pass it as `after`
  readonly facts: readonly FactRecord[]
}
