import type { PerdureClient } from '@perdure/client'
import { beginFold, type FoldState, foldEvent, outputText, transcriptOf } from '@perdure/core'
import type { RunStatusName } from '@perdure/protocol'
import type { Answer } from './answer.ts'

/** How a run stands when there is nothing more to show at present. */
export interface Look {
  readonly status: RunStatusName
  /** The whole text of the run. */
  readonly text: string
  readonly error?: string | undefined
  /** Id of the last event, if the run waits. */
  readonly lastEventId?: string | undefined
}

export interface FollowOptions {
  readonly client: PerdureClient
  readonly runId: string
  readonly answer: Answer
  /** How long at least lies between two edits of a message. */
  readonly updateIntervalMs: number
  readonly now: () => number
  readonly signal: AbortSignal
}

/** Shows the text of a run while it arrives, until the run ends or waits. Ends at once for a run that is queued. */
export async function followTurn(options: FollowOptions): Promise<Look> {
  const { client, runId } = options
  const { status } = await client.runs.get(runId)
  if (status === 'queued') return { status, text: '' }
  const { fold, waits, lastEventId } = await foldShown(options)
  const transcript = transcriptOf(fold)
  if (waits !== undefined) {
    return { status: waits, text: outputText({ items: transcript.items, result: undefined }), lastEventId }
  }
  const ended = await client.runs.get(runId)
  return { status: ended.status, text: outputText({ ...transcript, result: ended.result }), error: ended.error?.code }
}

interface Shown {
  readonly fold: FoldState
  /** The status of a run that waits; `undefined` for one that has ended. */
  readonly waits?: RunStatusName | undefined
  readonly lastEventId?: string | undefined
}

async function foldShown({ client, runId, answer, updateIntervalMs, now, signal }: FollowOptions): Promise<Shown> {
  let fold = beginFold(runId)
  let shownAt = now()
  for await (const event of client.runs.follow(runId, { signal, onGap: () => undefined })) {
    fold = foldEvent(fold, event)
    if (event.type === 'run.suspended') {
      // The run may have continued since. While it is queued, it needs the slot that this one holds.
      const { status } = await client.runs.get(runId)
      if (status === 'suspended' || status === 'queued') return { fold, waits: status, lastEventId: event.eventId }
    }
    if (event.type !== 'text.delta' || now() - shownAt < updateIntervalMs) continue
    await answer.show(outputText({ items: transcriptOf(fold).items, result: undefined }))
    shownAt = now()
  }
  signal.throwIfAborted()
  return { fold }
}
