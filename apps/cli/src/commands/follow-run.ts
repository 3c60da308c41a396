import type { Event } from '@perdure/client'
import { isPlainObject } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { cancelOnInterrupt } from './cancel-on-interrupt.ts'
import { awaitsAction, finishWithStatus, noteOutcome } from './run-result.ts'

export interface FollowedRun {
  readonly runId: string
  readonly subject: string
}

/**
 * Streams the text of a run to stdout, and its other events and its outcome to stderr. With JSON, writes each event to
 * stdout as one line.
 */
export async function followRun(call: Call, { runId, subject }: FollowedRun): Promise<void> {
  const followed = await cancelOnInterrupt(call, runId, async () => {
    const last = await showEvents(call, { runId, subject })
    const state = await call.client().runs.state(runId)
    if (!call.out.isJson && last !== '' && !last.endsWith('\n')) call.out.text('\n')
    return state
  })
  if (followed === undefined) return
  if (!call.out.isJson) noteOutcome(call, followed.result)
  if (!followed.isInterrupted) finishWithStatus(call, followed.result)
}

/** @returns the last text written, so that the caller can check whether it ends with a line break */
async function showEvents(call: Call, { runId, subject }: FollowedRun): Promise<string> {
  let last = ''
  for await (const item of call.client().subscribe(subject, { transport: 'sse' })) {
    if (item.type === 'gap') {
      call.out.note(`events are missing after ${item.lastEventId}`)
      continue
    }
    const { event } = item
    if (call.out.isJson) call.out.item(event, () => '')
    else last = showEvent(call, event) ?? last
    if (await awaitsAction(call, runId, event)) return last
  }
  return last
}

function showEvent({ out }: Call, { type, payload }: Event): string | undefined {
  const delta = type === 'text.delta' && isPlainObject(payload) ? payload.delta : undefined
  if (typeof delta !== 'string') {
    out.note(out.paint('dim', `· ${type}`))
    return undefined
  }
  out.text(delta)
  return delta
}
