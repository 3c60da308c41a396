import type { EpochMs, FileRecord } from '@perdure/ports'

export interface FileRow {
  readonly id: string
  readonly owner: string
  readonly sha256: string
  readonly size: number
  readonly media_type: string
  readonly name: string | null
  readonly created_at: number
  readonly is_held: number // 1 if `file_holders` or `run_files` has a row of the file
  readonly content: Uint8Array | null
}

export interface FileHolderRow {
  readonly file_id: string
  readonly session_id: string
}

export interface RunFileRow {
  readonly run_id: string
  readonly file_id: string
}

/** A file without its content. */
export type FileFields = Omit<FileRow, 'is_held' | 'content'>

export const FILE_FIELDS = ['id', 'owner', 'sha256', 'size', 'media_type', 'name', 'created_at'] as const

export const toFileFields = (file: FileRecord): FileFields => ({
  id: file.id,
  owner: file.owner,
  sha256: file.sha256,
  size: file.size,
  media_type: file.mediaType,
  name: file.name ?? null,
  created_at: file.createdAt,
})

export const toFile = (row: FileFields): FileRecord => ({
  id: row.id,
  owner: row.owner,
  sha256: row.sha256,
  size: row.size,
  mediaType: row.media_type,
  name: row.name ?? undefined,
  createdAt: row.created_at as EpochMs,
})
