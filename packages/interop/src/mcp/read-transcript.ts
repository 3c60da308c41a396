import { type RenderEnvelope, runSubject } from '@perdure/core'
import { type EventLog, fromJsonText, type RunRecord } from '@perdure/ports'
import { beginFold, foldEvent, transcriptOf } from '../fold/fold.ts'
import type { LogEvent } from '../fold/log-event.ts'
import type { Transcript } from '../fold/transcript.ts'

export interface ReadTranscriptDeps {
  readonly events: EventLog
  readonly render: RenderEnvelope
}

const PAGE = 500

/** Folds the log of the run as it is now. If its events have been deleted, the transcript contains only its record. */
export async function readTranscript({ events, render }: ReadTranscriptDeps, run: RunRecord): Promise<Transcript> {
  const { epoch } = await events.head()
  const subject = runSubject(run)
  let state = beginFold(run.id)
  for (let after = 0; ; ) {
    const page = await events.read({ runId: run.id }, { after, limit: PAGE })
    for (const event of page) {
      state = foldEvent(state, fromJsonText(render(event, { subject, epoch, isRepeat: true })) as LogEvent)
    }
    const last = page.at(-1)
    if (last === undefined) break
    after = last.position
  }
  const transcript = transcriptOf(state)
  return transcript.status === run.status ? transcript : { ...transcript, ...recordOf(run) }
}

function recordOf({ status, result, error, abortReason }: RunRecord): Partial<Transcript> {
  return {
    status,
    ...(result === undefined ? {} : { result: fromJsonText(result) }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    ...(abortReason === undefined ? {} : { reason: abortReason }),
  }
}
