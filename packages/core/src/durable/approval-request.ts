import { type ApprovalRecord, type NewEvent, type RunRecord, toJsonText } from '@perdure/ports'
import { approvalEvents } from './approval-events.ts'
import type { ApprovalOptions } from './approval-options.ts'
import { instantAfter } from './call-arguments.ts'
import type { CallScope } from './call-scope.ts'

export interface ApprovalAsk extends ApprovalOptions {
  readonly name: string
  readonly seq?: number
  readonly toolCallId?: string
}

/** A new approval of a run, and its events. */
export function approvalRequest(
  { run, clock, ids }: Pick<CallScope, 'run' | 'clock' | 'ids'>,
  ask: ApprovalAsk,
): { readonly approval: ApprovalRecord; readonly events: readonly NewEvent[] } {
  const createdAt = clock.now()
  const { name, seq, title, payload, timeoutMs, toolCallId } = ask
  const approval: ApprovalRecord = {
    id: ids.newId('approval'),
    runId: run.id,
    seq,
    ...placeOf(run),
    name,
    title,
    payload: payload === undefined ? undefined : toJsonText(payload),
    toolCallId,
    status: 'pending',
    createdAt,
    expiresAt: timeoutMs === undefined ? undefined : instantAfter(createdAt, timeoutMs),
  }
  return { approval, events: approvalEvents(approval, 'approval.requested', createdAt) }
}

const placeOf = ({ kind, targetId, sessionId, owner }: RunRecord) => ({ kind, targetId, sessionId, owner })
