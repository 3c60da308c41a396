import type { FileRecord } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

/** A file without its content. */
export const FILES = recordTable<FileRecord>()({
  id: 'text',
  owner: 'text',
  sha256: 'text',
  size: 'bigint',
  mediaType: 'text',
  name: 'text',
  createdAt: 'bigint',
})

export type FileFields = RowIn<typeof FILES>

export interface FileRow extends FileFields {
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
