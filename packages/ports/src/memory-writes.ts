import type { BlockRecord, BlockRef } from './block-store.ts'
import type { EpochMs } from './clock.ts'
import type { FactRecord } from './fact-store.ts'
import type { MemoryConflictRecord, MemoryConflictResolution } from './memory-conflict-store.ts'

/** The writes of memory. */
export type MemoryWrite =
  /** Conflicts when the id is taken. */
  | { readonly type: 'fact.insert'; readonly fact: FactRecord }
  /**
   * Replaces all but `id`, `owner` and `createdAt` of the fact when it has the `revision` before that of `fact`;
   * conflicts otherwise. Its vector is forgotten when the text is another.
   */
  | { readonly type: 'fact.replace'; readonly fact: FactRecord }
  /** Deletes the fact, with its vector, when it has this revision; conflicts otherwise. */
  | { readonly type: 'fact.delete'; readonly id: string; readonly revision: number }
  /** Sets importance and `weighedAt` when the fact has this revision; a no-op otherwise. The revision stays. */
  | {
      readonly type: 'fact.weigh'
      readonly id: string
      readonly revision: number
      readonly importance: number
      readonly at: EpochMs
    }
  /**
   * Keeps the vector of the fact when it has this revision; a no-op otherwise. Without a vector it notes that this
   * embedder can make none.
   */
  | {
      readonly type: 'fact.embed'
      readonly id: string
      readonly revision: number
      readonly embedder: string
      readonly vector?: readonly number[] | undefined
    }
  /** Forgets the vectors, and notes, of every other embedder; never conflicts. */
  | { readonly type: 'fact.keep-vectors'; readonly embedder: string }
  /** Inserts the block, or replaces `value`, `limit` and `updatedAt` of the one of its owner, namespace and label. */
  | { readonly type: 'block.put'; readonly block: BlockRecord }
  /** Conflicts when there is no such block. */
  | { readonly type: 'block.delete'; readonly ref: BlockRef }
  /** Conflicts when the id is taken, or an open conflict names the same two facts. */
  | { readonly type: 'conflict.open'; readonly conflict: MemoryConflictRecord }
  /** Conflicts unless the conflict is open. */
  | { readonly type: 'conflict.resolve'; readonly id: string; readonly resolution: MemoryConflictResolution }

/** What stood in the way of a write of memory. */
export type MemoryWriteConflict =
  | { readonly type: 'fact.insert' | 'fact.replace' | 'fact.delete'; readonly current?: FactRecord | undefined }
  | { readonly type: 'block.delete' }
  | { readonly type: 'conflict.open' | 'conflict.resolve'; readonly current?: MemoryConflictRecord | undefined }
