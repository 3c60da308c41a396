import {
  type JsonText,
  perdureError,
  type ResultFile,
  type RunRecord,
  type StepRecord,
  type Write,
} from '@perdure/ports'

/** A stored file with a result, as events show it. */
export interface ShownResultFile extends ResultFile {
  /** Path of the content on this server. */
  readonly url: string
  readonly name: string
  readonly mediaType: string
}

export interface StoredResult {
  readonly file: ShownResultFile
  /**
   * Store the record of the file and let the run hold it. They conflict at `file.insert` when the quota of the owner is
   * used up.
   */
  readonly writes: readonly Write[]
}

/** Stores results that are too long for the record of their call. */
export interface ResultFiles {
  readonly maxBytes: number
  /**
   * Makes the content durable, before any record refers to it. If the writes are not committed, the sweep deletes it.
   *
   * @throws PerdureError `file-quota-exceeded`
   */
  store(run: Pick<RunRecord, 'id' | 'owner'>, name: string, text: JsonText): Promise<StoredResult>
  /** @throws PerdureError `storage-unavailable` if the content is missing, with the id of the file */
  read(file: ResultFile, step: Pick<StepRecord, 'name'>): Promise<JsonText>
  quotaExceeded(): Error
}

const unavailable = () => perdureError('storage-unavailable', { message: 'this engine has no store for files' })

/** Stores nothing: results that are too long for the record of their call are refused. */
export const noResultFiles: ResultFiles = {
  maxBytes: 0,
  store: () => Promise.reject(unavailable()),
  read: () => Promise.reject(unavailable()),
  quotaExceeded: unavailable,
}
