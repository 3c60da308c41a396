import { type ApprovalRecord, type NewEvent, type RunRecord, toJsonText } from '@perdure/ports'
import { isPlainObject } from '@perdure/protocol'
import { jsonOrUndefined } from '../../json/json-members.ts'
import { instantAfter } from '../call-arguments.ts'
import type { CallScope } from '../call-scope.ts'
import type { ToolCall } from '../tool.ts'
import { approvalEvents } from './approval-events.ts'
import type { ApprovalOptions } from './approval-options.ts'

export interface ApprovalAsk extends ApprovalOptions {
  readonly name: string
  readonly seq?: number
  readonly toolCallId?: string
  /** The arguments of that tool call; those in a payload `{ toolName, args }` when missing. */
  readonly args?: unknown
  /** The approval whose decision does not count, because it was requested for something else. */
  readonly replaces?: string | undefined
}

/** A new approval of a run, and its events. */
export function approvalRequest(
  { run, clock, ids, ancestors }: Pick<CallScope, 'run' | 'clock' | 'ids' | 'ancestors'>,
  ask: ApprovalAsk,
): { readonly approval: ApprovalRecord; readonly events: readonly NewEvent[] } {
  const createdAt = clock.now()
  const { name, seq, title, payload, timeout, toolCallId, assignee, editable = false } = ask
  const { remindAfter, escalateTo } = ask
  const args = toolCallId === undefined ? undefined : jsonOrUndefined(ask.args ?? argsIn(payload))
  const approval: ApprovalRecord = {
    id: ids.newId('approval'),
    runId: run.id,
    seq,
    ...placeOf(run),
    name,
    title,
    payload: payload === undefined ? undefined : toJsonText(payload),
    toolCallId,
    assignee,
    // The usual payload of a tool call has its arguments.
    args: isToolCall(payload) ? undefined : args,
    ...(editable === false ? {} : editableArgs(editable, 'args' in ask ? ask.args : payload)),
    status: 'pending',
    createdAt,
    remindAt: remindAfter === undefined ? undefined : instantAfter(createdAt, remindAfter),
    escalateTo,
    expiresAt: timeout === undefined ? undefined : instantAfter(createdAt, timeout),
  }
  return {
    approval,
    events: approvalEvents(approval, 'approval.requested', { at: createdAt, args, replaces: ask.replaces, ancestors }),
  }
}

const editableArgs = (
  editable: Exclude<ApprovalOptions['editable'], undefined | false>,
  args: unknown,
): Pick<ApprovalRecord, 'args' | 'argsSchema'> => ({
  args: toJsonText(args ?? null),
  argsSchema: toJsonText(editable === true ? true : editable.schema),
})

/** The arguments in the usual payload of a tool call. */
export const argsIn = (payload: unknown): unknown => (isToolCall(payload) ? payload.args : undefined)

const isToolCall = (payload: unknown): payload is Pick<ToolCall, 'args'> =>
  isPlainObject(payload) && Object.hasOwn(payload, 'toolName')

const placeOf = ({ kind, targetId, sessionId, owner }: RunRecord) => ({ kind, targetId, sessionId, owner })
