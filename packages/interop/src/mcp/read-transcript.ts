import type { Transcript } from '@perdure/core'
import { beginFold, type FoldState, foldEvent, foldLog, isStateEvent, transcriptOf } from '@perdure/core'
import type { RunRecord } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { shownEnd } from '../chat/end-event.ts'
import type { FoldCache } from '../chat/fold-cache.ts'
import { beginLog, type LogCursor, logName, type RunLogDeps, readLog } from '../chat/run-log.ts'

export interface ReadTranscriptDeps extends RunLogDeps {
  readonly foldCache: FoldCache
}

interface Folded {
  readonly cursor: LogCursor
  state: FoldState
}

/**
 * Folds the log of the run as it is now. If its events have been deleted, the transcript contains only its record.
 *
 * @param charge is called with the length of what was read and is shown
 */
export async function readTranscript(
  deps: ReadTranscriptDeps,
  run: RunRecord,
  charge?: (bytes: number) => void,
): Promise<Transcript> {
  const { foldCache } = deps
  const kept = foldCache.take('transcript', run.id) as Folded | undefined
  const folded = kept?.cursor.log === (await logName(deps)) ? kept : await beginTranscript(deps, run)
  const { cursor } = folded
  const readBefore = cursor.read
  await readLog(deps, run, cursor, (event) => {
    if (!isStateEvent(event)) folded.state = foldEvent(folded.state, event)
  })
  charge?.(cursor.read - readBefore + cursor.limit.bytes())
  foldCache.keep('transcript', run.id, folded, cursor.limit.bytes())
  const transcript = transcriptOf(folded.state)
  return transcript.status === run.status || !isTerminal(run.status)
    ? { ...transcript, status: run.status }
    : transcriptOf(foldLog(shownEnd(deps, run), folded.state))
}

const beginTranscript = async (deps: ReadTranscriptDeps, run: RunRecord): Promise<Folded> => ({
  cursor: await beginLog(deps, run),
  state: beginFold(run.id),
})
