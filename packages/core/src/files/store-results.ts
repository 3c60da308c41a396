import { EVERY_ROW, type JsonText, perdureError } from '@perdure/ports'
import type { ResultFiles } from '../durable/result-files.ts'
import { isRefusalWith } from '../runs/thrown-value.ts'
import { oneChunk, readBytes } from './file-bytes.ts'
import { shownName } from './file-name.ts'
import { fileUrl } from './file-url.ts'
import { type NewFileDeps, newFile } from './new-file.ts'
import type { ReadFiles } from './read-files.ts'
import { quotaExceeded, type ReceiveFile } from './receive-file.ts'

export interface StoreResultsDeps extends NewFileDeps {
  readonly receiveFile: ReceiveFile
  readonly readFiles: Pick<ReadFiles, 'open'>
  readonly basePath: string
}

const MEDIA_TYPE = 'application/json'

/** Stores long results of durable calls as files of the owner of the run, which the run holds. */
export function createStoreResults(deps: StoreResultsDeps): ResultFiles {
  const { receiveFile, readFiles, limits, basePath } = deps
  return {
    maxBytes: limits.maxBytes,
    async store({ id: runId, owner }, callName, text) {
      const chunks = oneChunk(new TextEncoder().encode(text))
      const received = await receiveFile({ chunks, mediaType: MEDIA_TYPE, owner })
      const name = `${shownName(callName.slice(0, 200)) ?? 'result'}.json`
      const { file, writes } = newFile(deps, received, { owner, name, runId })
      const { id, size: bytes } = file
      return {
        file: { id, url: fileUrl(basePath, id), name, mediaType: MEDIA_TYPE, bytes },
        writes,
      }
    },
    async read({ id, bytes: size }, { name }) {
      const opened = await readFiles.open(id, EVERY_ROW).catch((error: unknown) => {
        throw isRefusalWith(error, 'file-not-found') ? missing(id, name) : error
      })
      const bytes = await readBytes(await opened.read())
      if (bytes.length !== size) throw missing(id, name)
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes) as JsonText
    },
    quotaExceeded: () => quotaExceeded(limits),
  }
}

const missing = (id: string, name: string) =>
  perdureError('storage-unavailable', {
    message: `the result of ${name} is in the file ${id}, which is missing or incomplete`,
    hint: 'restore the database and the folder or the bucket of storage.files from the same backup',
  })
