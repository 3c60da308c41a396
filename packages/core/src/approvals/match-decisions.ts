import {
  AppError,
  type ApprovalRecord,
  type ApprovalStore,
  EVERY_ROW,
  type RunRecord,
  type Visibility,
} from '@perdure/ports'
import { OPERATION_TABLES } from '@perdure/protocol'
import { authorize } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'
import { isAppError } from '../runs/thrown-value.ts'
import type { Decision } from './decision.ts'

/** A decision on an approval of a run, which is named by its id or by the tool call that asked for it. */
export interface DecisionRef extends Decision {
  readonly id?: string | undefined
  readonly toolCallId?: string | undefined
}

export interface Matched {
  readonly approval: ApprovalRecord
  readonly decision: Decision
}

interface Request {
  readonly run: RunRecord
  readonly principal: Principal
}

/**
 * Finds the approval that each decision means.
 *
 * @throws AppError `validation-failed` for a decision that names none or two, or two that name the same;
 *   `approval-not-found`; `scope-denied` when the principal may not decide one of them
 */
export async function matchDecisions(
  { approvals }: { readonly approvals: ApprovalStore },
  { run, principal }: Request,
  decisions: readonly DecisionRef[],
): Promise<readonly Matched[]> {
  const matched = await Promise.all(
    decisions.map(async (decision) => ({ decision, approval: await find(approvals, run, decision) })),
  )
  const ids = new Set(matched.map(({ approval }) => approval.id))
  if (ids.size < matched.length) throw new AppError('validation-failed', { message: 'approvals: one is decided twice' })
  for (const { approval } of matched) await requireRight(approvals, principal, approval)
  return matched
}

async function find(
  approvals: ApprovalStore,
  run: RunRecord,
  { id, toolCallId }: DecisionRef,
): Promise<ApprovalRecord> {
  if ((id === undefined) === (toolCallId === undefined)) {
    throw new AppError('validation-failed', { message: 'approvals: each needs either id or toolCallId' })
  }
  const approval = id === undefined ? await newestOf(approvals, run, toolCallId) : await approvals.find(id, EVERY_ROW)
  if (approval?.runId === run.id) return approval
  throw new AppError('approval-not-found', {
    message: `the run has no approval ${id ?? `of the tool call ${toolCallId}`}`,
  })
}

async function newestOf(approvals: ApprovalStore, { id: runId }: RunRecord, toolCallId: string | undefined) {
  const { items } = await approvals.list({ runId, toolCallId }, { limit: 1, order: 'desc' }, EVERY_ROW)
  return items[0]
}

const RESOLVE = OPERATION_TABLES.approvals.resolveApproval.scope

/**
 * What a run suspends itself for is answered by whoever may resume it. What its code asks of a human (`ctx.approval`,
 * `ctx.tool`, a step that asks) takes the scope of the inbox, here as there.
 */
async function requireRight(approvals: ApprovalStore, principal: Principal, approval: ApprovalRecord): Promise<void> {
  if (approval.seq === undefined) return
  const visibility = visibilityOf(principal)
  const mayDecide = visibility !== undefined && (await approvals.find(approval.id, visibility)) !== undefined
  if (mayDecide) return
  throw new AppError('scope-denied', { hint: `the token needs the scope approvals:resolve:${approval.id}` })
}

/** The approvals that the principal may decide in the inbox; `undefined` when there can be none. */
function visibilityOf(principal: Principal): Visibility | undefined {
  try {
    return authorize(principal, RESOLVE, {})
  } catch (error) {
    if (isAppError(error, 'scope-denied')) return undefined
    throw error
  }
}
