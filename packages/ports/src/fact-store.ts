import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

/** One thing that is remembered. */
export interface FactRecord {
  readonly id: string
  readonly namespace: string
  readonly owner: string
  readonly text: string
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly importance: number // 0 to 1
  readonly weighedAt: EpochMs // when its importance was set or has last decayed
  readonly fingerprint: string // the same for texts that say the same; made by the domain, opaque to stores
  readonly sourceRunId?: string | undefined
  readonly sourceSessionId?: string | undefined
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
  readonly expiresAt?: EpochMs | undefined // from here on no read finds it
  readonly revision: number // from 1; grows with every replacement
}

/** Which facts: those that match every given member, are visible and have not expired at `now`. */
export interface FactFilter {
  readonly namespace?: string | undefined
  /** Each of these must be among the tags of the fact. */
  readonly tags?: readonly string[] | undefined
  readonly sourceSessionId?: string | undefined
  readonly owner?: string | undefined
  readonly now: EpochMs
  readonly visibility: Visibility
}

/** What to compare with: a vector of length 1, and whose vectors are comparable with it. */
export interface VectorQuery {
  readonly vector: readonly number[]
  readonly embedder: string
  /** How many facts are looked at, the newest first: bounds the time of a search. */
  readonly candidates: number
}

/** Port. Reads of facts; every write goes through `UnitOfWork`. Passes `factStoreContract`. */
export interface FactStore {
  /** The fact, when it exists, is visible and has not expired at `now`. */
  find(id: string, at: { readonly now: EpochMs; readonly visibility: Visibility }): Promise<FactRecord | undefined>
  /** Ordered by creation (ties by id). */
  list(filter: FactFilter, page: PageQuery): Promise<Page<FactRecord>>
  /**
   * Facts whose text has at least one of the words of `text` (`wordsOf`), best first by BM25: more of the words before
   * fewer, rarer words before common ones, short texts before long ones. `text` is never a query language. At most 64
   * different words of it count; a text without words finds nothing.
   */
  search(text: string, filter: FactFilter, limit: number): Promise<readonly FactRecord[]>
  /** Facts with a vector of this embedder whose product with `vector` is above zero, the greatest first. */
  nearest(query: VectorQuery, filter: FactFilter, limit: number): Promise<readonly FactRecord[]>
}

/** Port. What the upkeep of facts works on, whoever owns them. Passes `factUpkeepContract`. */
export interface FactUpkeep {
  /**
   * Groups of facts of one owner and namespace that have the same fingerprint and have not expired at `now`, oldest fact
   * first. Groups are ordered by their `groupKey`; those after `after` (exclusive) are given, of one owner when it is named.
   */
  repeated(
    range: { readonly owner?: string | undefined; readonly after?: string | undefined; readonly now: EpochMs },
    limit: number,
  ): Promise<readonly FactGroup[]>
  /** Facts with `expiresAt <= now`, earliest first; of one owner when it is named. */
  expired(
    range: { readonly owner?: string | undefined; readonly now: EpochMs },
    limit: number,
  ): Promise<readonly FactRecord[]>
  /** Facts with an importance above zero that were weighed at or before `at`, longest ago first; of one owner when named. */
  weighedBefore(
    range: { readonly owner?: string | undefined; readonly at: EpochMs },
    limit: number,
  ): Promise<readonly FactRecord[]>
  /** Facts that have neither a vector nor the note that none can be made, oldest first. */
  unembedded(limit: number): Promise<readonly FactRecord[]>
}

export interface FactGroup {
  readonly groupKey: string // opaque; goes into `after`
  readonly facts: readonly FactRecord[]
}
