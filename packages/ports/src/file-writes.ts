import type { EpochMs } from './clock.ts'
import type { FileRecord } from './file-store.ts'

/** The writes of files. */
export type FileWrite =
  /**
   * Conflicts when the id is taken. With `ownerBytes`, also conflicts, without `current`, when the files of the owner would
   * be larger together, even if several callers insert at the same time.
   */
  | {
      readonly type: 'file.insert'
      readonly file: FileRecord
      /** Base64 of at most `MAX_INLINE_BYTES`; if missing, the blob with the hash of the file must be stored. */
      readonly content?: string | undefined
      readonly ownerBytes?: number | undefined
    }
  /**
   * Lets the session hold these files; a no-op for those that it holds. Conflicts when there is no such session, and,
   * naming the first such file, when a file does not exist or has another owner. Its count is the number of files that the
   * session did not hold.
   */
  | {
      readonly type: 'file.hold'
      readonly sessionId: string
      readonly ids: readonly string[]
      readonly owner: string
    }
  /**
   * Lets the run hold these files, whoever owns them; a no-op for those that it holds. Conflicts when there is no such run,
   * and, naming the first such file, when a file does not exist. With `owner`, skips files that do not exist or have
   * another owner instead. Its count is the number of files that the run did not hold.
   */
  | {
      readonly type: 'file.keep'
      readonly runId: string
      readonly ids: readonly string[]
      readonly owner?: string | undefined
    }
  /** Conflicts when there is no such file, and, with `current`, while a session or a run holds it. */
  | { readonly type: 'file.delete'; readonly id: string }
  /**
   * Deletes up to `limit` files that no session and no run holds and that were created before `before`. Never conflicts; its count
   * is the number of deleted files.
   */
  | { readonly type: 'file.prune'; readonly before: EpochMs; readonly limit: number }

/** The conflicts that the writes of files can cause. */
export type FileWriteConflict =
  | { readonly type: 'file.insert' | 'file.delete'; readonly current?: FileRecord | undefined }
  | { readonly type: 'file.hold' | 'file.keep'; readonly missing?: string | undefined }
