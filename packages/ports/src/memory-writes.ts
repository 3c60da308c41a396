import type { BlockRecord, BlockRef } from './block-store.ts'
import type { EpochMs } from './clock.ts'
import type { FactRecord } from './fact-store.ts'
import type { MemoryConflictRecord, MemoryConflictResolution } from './memory-conflict-store.ts'

/** Writes to memory. */
export type MemoryWrite =
  /** Conflicts when the id is taken. */
  | { readonly type: 'fact.insert'; readonly fact: FactRecord }
  /**
   * Replaces every member except `id`, `owner` and `createdAt`, if the stored revision is one less than that of `fact`;
   * conflicts otherwise. Deletes the vector of the fact if the text changed.
   */
  | { readonly type: 'fact.replace'; readonly fact: FactRecord }
  /** Deletes the fact and its vector if it has this revision; conflicts otherwise. */
  | { readonly type: 'fact.delete'; readonly id: string; readonly revision: number }
  /** Sets importance and `weighedAt` if the fact has this revision; a no-op otherwise. Does not change the revision. */
  | {
      readonly type: 'fact.weigh'
      readonly id: string
      readonly revision: number
      readonly importance: number
      readonly at: EpochMs
    }
  /**
   * Stores the vector of the fact if it has this revision; a no-op otherwise. Without a vector, records that this
   * embedder cannot embed the fact.
   */
  | {
      readonly type: 'fact.embed'
      readonly id: string
      readonly revision: number
      readonly embedder: string
      readonly vector?: readonly number[] | undefined
    }
  /** Deletes the vectors and failure records of every other embedder. Never conflicts. */
  | { readonly type: 'fact.keep-vectors'; readonly embedder: string }
  /**
   * Inserts the block, or replaces `value`, `limit` and `updatedAt` of the block with its owner, namespace and label. With
   * `from`, conflicts unless the stored block has this `updatedAt` or, if `from` is `null`, unless there is no such block.
   */
  | { readonly type: 'block.put'; readonly block: BlockRecord; readonly from?: EpochMs | null | undefined }
  /** Conflicts when there is no such block and, with `from`, when its `updatedAt` differs. */
  | { readonly type: 'block.delete'; readonly ref: BlockRef; readonly from?: EpochMs | undefined }
  /** Conflicts when the id is taken or an open conflict has the same two facts. */
  | { readonly type: 'conflict.open'; readonly conflict: MemoryConflictRecord }
  /** Conflicts unless the conflict is open. */
  | { readonly type: 'conflict.resolve'; readonly id: string; readonly resolution: MemoryConflictResolution }

/** The conflicts that writes to memory can cause. */
export type MemoryWriteConflict =
  | { readonly type: 'fact.insert' | 'fact.replace' | 'fact.delete'; readonly current?: FactRecord | undefined }
  | { readonly type: 'block.put' | 'block.delete' }
  | { readonly type: 'conflict.open' | 'conflict.resolve'; readonly current?: MemoryConflictRecord | undefined }
