import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

/** A named piece of text that an owner keeps; addressed by owner, namespace and label. */
export interface BlockRecord extends BlockRef {
  readonly id: string // of its row; kept over its changes
  readonly value: string
  readonly limit: number // of `value`, in characters (UTF-16 code units)
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
}

export interface BlockRef {
  readonly owner: string
  readonly namespace: string
  readonly label: string
}

/** Port. Reads of blocks; every write goes through `UnitOfWork`. Passes `blockStoreContract`. */
export interface BlockStore {
  find(ref: BlockRef): Promise<BlockRecord | undefined>
  /** Visible blocks, of one namespace when it is given, ordered by creation (ties by id). */
  list(namespace: string | undefined, page: PageQuery, visibility: Visibility): Promise<Page<BlockRecord>>
}
