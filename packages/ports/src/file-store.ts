import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

/** Up to this size the database stores the content of a file itself, otherwise a `BlobStore` does. */
export const MAX_INLINE_BYTES = 65_536

/**
 * An attachment of a conversation, or a long result of a durable call. Without a session or a run that holds it, it is an
 * upload, which `file.prune` deletes by age; otherwise it is deleted with the last session or run that holds it.
 */
export interface FileRecord {
  readonly id: string
  readonly owner: string
  readonly sha256: string // hexadecimal, of the content
  readonly size: number // bytes
  readonly mediaType: string
  readonly name?: string | undefined
  readonly createdAt: EpochMs
}

export interface FileFilter {
  /** Only files that this session holds. */
  readonly sessionId?: string | undefined
}

/** The files of an owner: how many, and their sizes together. Each file counts, even if others have the same content. */
export interface FileUsage {
  readonly files: number
  readonly bytes: number
}

/** Port. Reads files; every write goes through `UnitOfWork`. Must pass `fileStoreContract`. */
export interface FileStore {
  find(id: string, visibility: Visibility): Promise<FileRecord | undefined>
  /** The content that is stored with the record; `undefined` if a `BlobStore` has it, and for an unknown file. */
  content(id: string): Promise<Uint8Array | undefined>
  /** The ids of the sessions that hold the file, in code-unit order. */
  holders(id: string): Promise<readonly string[]>
  /** The ids of up to `limit` runs that hold the file, the first in code-unit order. */
  holdingRuns(id: string, limit: number): Promise<readonly string[]>
  list(filter: FileFilter, page: PageQuery, visibility: Visibility): Promise<Page<FileRecord>>
  usage(owner: string): Promise<FileUsage>
  /** The newest file of the owner with this content, media type and name. */
  findSame(file: Pick<FileRecord, 'owner' | 'sha256' | 'size' | 'mediaType' | 'name'>): Promise<FileRecord | undefined>
  /** Those of the hashes that a file without stored content has, in code-unit order: their blobs are needed. */
  inUse(hashes: readonly string[]): Promise<readonly string[]>
}
