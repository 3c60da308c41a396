import { EVERY_ROW, type FileFilter, type FileStore, toJsonText, type Visibility } from '@perdure/ports'
import { eachItem } from '../collections/each-item.ts'
import { toBase64 } from '../json/base64.ts'
import { type ExportRecord, oldestFirst } from '../json/export-lines.ts'
import { readBytes } from './file-bytes.ts'
import { toFileResource } from './file-resource.ts'
import type { ReadFiles } from './read-files.ts'

export interface FileRecordsDeps {
  readonly files: Pick<FileStore, 'list'>
  readonly readFiles: Pick<ReadFiles, 'open'>
}

/** Bytes of a file in one line: a multiple of 3, so that the texts of base64 can be joined. */
const PART_BYTES = 48 * 1024

/** Files as an export has them: each with its content in records `file-part` of base64, of which one at a time is read. */
export async function* fileRecords(
  { files, readFiles }: FileRecordsDeps,
  filter: FileFilter,
  visibility: Visibility,
): AsyncGenerator<ExportRecord, void, void> {
  for await (const file of eachItem((cursor) => files.list(filter, oldestFirst(cursor), visibility))) {
    const { id: fileId } = file
    yield { type: 'file', record: toJsonText(toFileResource(file)) }
    const { read } = await readFiles.open(fileId, EVERY_ROW)
    for (let start = 0; start < file.size; start += PART_BYTES) {
      const data = toBase64(await readBytes(await read({ start, end: Math.min(file.size, start + PART_BYTES) })))
      yield { type: 'file-part', record: toJsonText({ fileId, data }) }
    }
  }
}
