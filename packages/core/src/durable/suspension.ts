import { fromJsonText, toJsonText } from '@perdure/ports'
import type { ApprovalOptions } from './approval-options.ts'
import { checkName } from './call-arguments.ts'
import { checkApprovalOptions, jsonProblem, textProblem } from './check-approval-options.ts'
import { checkMembers, objectProblem, refuseProblems } from './check-options.ts'

/** A decision that a suspended run needs. */
export interface SuspendApproval extends ApprovalOptions {
  readonly name: string
  readonly toolCallId?: string
}

/** What a plain agent asks for when it suspends itself as a whole. */
export interface SuspendRequest {
  /** Decisions it needs; with none it is a plain pause, resumed by a payload. */
  readonly approvals?: readonly SuspendApproval[]
  /** Given back as `ctx.resume.state`; JSON. */
  readonly state?: unknown
}

const MARK = Symbol('suspension')

/** What `ctx.suspend` returns and the agent returns in turn. */
export interface Suspension extends SuspendRequest {
  readonly [MARK]: true
}

const MAX_APPROVALS = 100

/**
 * What is asked for, as it is at the call.
 *
 * @throws AppError `validation-failed` for what cannot be kept or asked
 */
export function suspensionOf(request: SuspendRequest, maxStateBytes: number): Suspension {
  const { approvals = [], state } = checkedRequest(request)
  const areApprovals = Array.isArray(approvals) && approvals.length <= MAX_APPROVALS
  refuseProblems('ctx.suspend', [
    areApprovals ? undefined : `approvals must be an array of at most ${MAX_APPROVALS}`,
    jsonProblem('state', state, maxStateBytes),
  ])
  for (const approval of approvals) checkApproval(approval)
  return { ...(fromJsonText(toJsonText({ approvals, state })) as SuspendRequest), [MARK]: true }
}

function checkedRequest(request: SuspendRequest): SuspendRequest {
  checkMembers('ctx.suspend', request, ['approvals', 'state'])
  return request ?? {}
}

function checkApproval(approval: SuspendApproval): void {
  refuseProblems('an approval of ctx.suspend', [
    approval === undefined ? 'it is missing' : objectProblem('it', approval),
  ])
  checkName(approval.name)
  refuseProblems(`the approval ${approval.name}`, [textProblem('toolCallId', approval.toolCallId, MAX_ID_LENGTH)])
  checkApprovalOptions(approval, ['name', 'toolCallId'])
}

const MAX_ID_LENGTH = 256

export const isSuspension = (result: unknown): result is Suspension =>
  typeof result === 'object' && result !== null && MARK in result
