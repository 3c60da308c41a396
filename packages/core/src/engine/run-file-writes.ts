import { type Conflict, fromJsonText, perdureError, type RunRecord, type Write } from '@perdure/ports'
import { fileIdsIn } from '../files/file-url.ts'

type Shown = Pick<RunRecord, 'input' | 'owner'>

/** Lets the session of the run, or without a session the run, hold the stored files that the messages of its input show. */
export function runFileWrites(run: RunRecord): readonly Write[] {
  const { sessionId, owner } = run
  if (sessionId === undefined) return keepShownFiles(run.id, run)
  const ids = shownFiles(run)
  return ids.length === 0 ? [] : [{ type: 'file.hold', sessionId, ids, owner }]
}

/**
 * Lets the run hold the stored files of the owner that the messages of an input show. Other files are skipped, because the
 * code that passes the input on, to a child or a repeated run, cannot correct it.
 */
export function keepShownFiles(runId: string, shown: Shown): readonly Write[] {
  const ids = shownFiles(shown)
  return ids.length === 0 ? [] : [{ type: 'file.keep', runId, ids, owner: shown.owner }]
}

/** The input is parsed only if its text can name a file. */
const shownFiles = ({ input }: Shown): readonly string[] =>
  input.includes('/files/file_') ? fileIdsIn(fromJsonText(input)) : []

/** @throws PerdureError `file-not-found` if the input shows a file that its caller does not own */
export function refuseMissingFile(conflict: Conflict | undefined): void {
  if (conflict?.type !== 'file.hold' || conflict.missing === undefined) return
  throw perdureError('file-not-found', {
    message: `the input shows the file ${conflict.missing}, which the caller does not have`,
    hint: 'store the file with POST /files and the same token',
  })
}
