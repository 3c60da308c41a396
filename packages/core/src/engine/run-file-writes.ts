import { type Conflict, fromJsonText, perdureError, type RunRecord, type Write } from '@perdure/ports'
import { fileIdsIn } from '../files/file-url.ts'

/** Lets the session of the run hold the stored files that the messages of its input show. */
export function runFileWrites({ sessionId, owner, input }: RunRecord): readonly Write[] {
  // Parsed only if the text can name a file.
  if (sessionId === undefined || !input.includes('/files/file_')) return []
  const ids = fileIdsIn(fromJsonText(input))
  return ids.length === 0 ? [] : [{ type: 'file.hold', sessionId, ids, owner }]
}

/** @throws PerdureError `file-not-found` if the input shows a file that its caller does not own */
export function refuseMissingFile(conflict: Conflict | undefined): void {
  if (conflict?.type !== 'file.hold' || conflict.missing === undefined) return
  throw perdureError('file-not-found', {
    message: `the input shows the file ${conflict.missing}, which the caller does not have`,
    hint: 'store the file with POST /files and the same token',
  })
}
