import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

/** Two facts of one owner and namespace that are near-duplicates but differ. */
export interface MemoryConflictRecord {
  readonly id: string
  readonly namespace: string
  readonly owner: string
  readonly factIds: readonly [string, string] // the older fact first
  readonly status: 'open' | 'resolved'
  readonly createdAt: EpochMs
  readonly resolvedAt?: EpochMs | undefined
  readonly by?: string | undefined // subject that resolved the conflict; missing if the server resolved it
  readonly reason?: string | undefined
}

export type MemoryConflictResolution = Pick<MemoryConflictRecord, 'by' | 'reason'> & { readonly resolvedAt: EpochMs }

/** Port. Reads memory conflicts; every write goes through `UnitOfWork`. Must pass `memoryConflictStoreContract`. */
export interface MemoryConflictStore {
  find(id: string, visibility: Visibility): Promise<MemoryConflictRecord | undefined>
  /** Lists visible conflicts, optionally of one namespace, ordered by creation (ties by id). */
  list(namespace: string | undefined, page: PageQuery, visibility: Visibility): Promise<Page<MemoryConflictRecord>>
  /** Lists the open conflicts that involve any of these facts, oldest first. */
  listOpenByFacts(factIds: readonly string[]): Promise<readonly MemoryConflictRecord[]>
}
