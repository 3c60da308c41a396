import { awaitsResume, isFields } from '@perdure/core'
import { type ApprovalStore, EVERY_ROW, type RunRecord } from '@perdure/ports'
import { type ChatSessionDeps, MESSAGE_REF, messageRef } from './chat-session.ts'
import { beginLog, type RunLogDeps, readLog } from './run-log.ts'

export interface AwaitedInputDeps extends RunLogDeps, Pick<ChatSessionDeps, 'digest'> {
  readonly approvals: Pick<ApprovalStore, 'list'>
}

type Asking = Pick<RunRecord, 'id' | 'kind' | 'targetId' | 'status' | 'suspension' | 'resumption' | 'metadata'>

/** Whether the message answers the question for input that the run has asked, now or when it was sent before. */
export async function takesInput(deps: AwaitedInputDeps, run: Asking, messageId: string): Promise<boolean> {
  if (run.suspension === undefined || run.metadata[MESSAGE_REF] === messageRef(deps.digest, messageId)) return false
  if (!awaitsResume(run)) return wasResumedBy(deps, run, messageId)
  const { items } = await deps.approvals.list(
    { runId: run.id, status: 'pending' },
    { limit: 1, order: 'asc' },
    EVERY_ROW,
  )
  return items.length === 0
}

/** Whether the message was passed to the run as input. */
export async function wasResumedBy(deps: RunLogDeps, run: Asking, messageId: string): Promise<boolean> {
  if (run.suspension === undefined) return false
  let wasResumed = false
  await readLog(deps, run, await beginLog(deps, run), ({ type, payload }) => {
    wasResumed = type === 'run.resumed' && viaIn(payload) === messageId
    return !wasResumed
  })
  return wasResumed
}

/** The id of the message that the payload names as its source. */
export const viaIn = (payload: unknown): unknown =>
  isFields(payload) && isFields(payload.via) ? payload.via.ref : undefined
