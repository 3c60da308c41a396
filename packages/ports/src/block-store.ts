import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

/** A named text that belongs to an owner, addressed by owner, namespace and label. */
export interface BlockRecord extends BlockRef {
  readonly id: string // row id; unchanged by updates
  readonly value: string
  readonly limit: number // maximum length of `value`, in characters (UTF-16 code units)
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
}

export interface BlockRef {
  readonly owner: string
  readonly namespace: string
  readonly label: string
}

/** Port. Reads blocks; every write goes through `UnitOfWork`. Must pass `blockStoreContract`. */
export interface BlockStore {
  find(ref: BlockRef): Promise<BlockRecord | undefined>
  /** Lists visible blocks, optionally of one namespace, ordered by creation (ties by id). */
  list(namespace: string | undefined, page: PageQuery, visibility: Visibility): Promise<Page<BlockRecord>>
}
