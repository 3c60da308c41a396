import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

/** Two facts of one owner and namespace that are nearly the same and yet differ. */
export interface MemoryConflictRecord {
  readonly id: string
  readonly namespace: string
  readonly owner: string
  readonly factIds: readonly [string, string] // the older fact first
  readonly status: 'open' | 'resolved'
  readonly createdAt: EpochMs
  readonly resolvedAt?: EpochMs | undefined
  readonly by?: string | undefined // subject of who decided; missing when it settled itself
  readonly reason?: string | undefined
}

export type MemoryConflictResolution = Pick<MemoryConflictRecord, 'by' | 'reason'> & { readonly resolvedAt: EpochMs }

/** Port. Reads of conflicts; every write goes through `UnitOfWork`. Passes `memoryConflictStoreContract`. */
export interface MemoryConflictStore {
  find(id: string, visibility: Visibility): Promise<MemoryConflictRecord | undefined>
  /** Visible conflicts, of one namespace when it is given, ordered by creation (ties by id). */
  list(namespace: string | undefined, page: PageQuery, visibility: Visibility): Promise<Page<MemoryConflictRecord>>
  /** The open conflicts that name one of these facts, oldest first. */
  openOf(factIds: readonly string[]): Promise<readonly MemoryConflictRecord[]>
}
