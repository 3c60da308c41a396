import { awaitsResume } from '@perdure/core'
import { type ApprovalStore, EVERY_ROW, type EventLog, fromJsonText, type RunRecord } from '@perdure/ports'
import { isFields } from '../fold/log-event.ts'
import { MESSAGE_REF } from './chat-session.ts'

export interface AwaitedInputDeps {
  readonly approvals: Pick<ApprovalStore, 'list'>
  readonly events: Pick<EventLog, 'read'>
}

/** Whether the message answers the question for input that the run has asked, now or when it was sent before. */
export async function takesInput(
  deps: AwaitedInputDeps,
  run: Pick<RunRecord, 'id' | 'status' | 'suspension' | 'resumption' | 'metadata'>,
  messageId: string,
): Promise<boolean> {
  if (run.suspension === undefined || run.metadata[MESSAGE_REF] === messageId) return false
  if (!awaitsResume(run as RunRecord)) return wasResumedBy(deps, run.id, messageId)
  const { items } = await deps.approvals.list(
    { runId: run.id, status: 'pending' },
    { limit: 1, order: 'asc' },
    EVERY_ROW,
  )
  return items.length === 0
}

const PAGE = 500

async function wasResumedBy(
  { events }: Pick<AwaitedInputDeps, 'events'>,
  runId: string,
  messageId: string,
): Promise<boolean> {
  for (let after = 0; ; ) {
    const page = await events.read({ runId }, { after, limit: PAGE })
    const isResumption = ({ type, payload }: (typeof page)[number]) =>
      type === 'run.resumed' && viaIn(fromJsonText(payload)) === messageId
    if (page.some(isResumption)) return true
    const last = page.at(-1)
    if (last === undefined) return false
    after = last.position
  }
}

/** The id of the message that the payload names as its source. */
export const viaIn = (payload: unknown): unknown =>
  isFields(payload) && isFields(payload.via) ? payload.via.ref : undefined
