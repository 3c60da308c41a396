import { fromJsonText, toJsonText } from '@perdure/ports'
import type { ApprovalOptions } from './approvals/approval-options.ts'
import { checkApprovalOptions, jsonProblem, textProblem } from './approvals/check-approval-options.ts'
import { checkName } from './call-arguments.ts'
import { checkMembers, objectProblem, refuseProblems } from './check-options.ts'

/** An approval that a suspended run waits for. */
export interface SuspendApproval extends ApprovalOptions {
  readonly name: string
  readonly toolCallId?: string
}

/** Argument of `ctx.suspend`. */
export interface SuspendRequest {
  /** Approvals to wait for; without any, a resume request with a payload continues the run. */
  readonly approvals?: readonly SuspendApproval[]
  /** Returned as `ctx.resume.state`; JSON. */
  readonly state?: unknown
}

const MARK = Symbol('suspension')

/** The return value of `ctx.suspend`, which the agent returns as its result. */
export interface Suspension extends SuspendRequest {
  readonly [MARK]: true
}

const MAX_APPROVALS = 100

/**
 * Checks and copies the request, so that later changes by the agent have no effect.
 *
 * @throws PerdureError `validation-failed` for an invalid request
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
