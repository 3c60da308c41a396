import { authorizeOperation, type Principal, type ResolveApproval, type ResumeRun } from '@perdure/core'
import { AppError, type ApprovalRecord, type Visibility } from '@perdure/ports'
import { OPERATION_TABLES } from '@perdure/protocol'

export interface DecideRunDeps {
  readonly resumeRun: ResumeRun
  readonly resolveApproval: ResolveApproval
}

/** The caller who answers for the user of a client. */
export interface Decider {
  readonly principal: Principal
  readonly visibility: Visibility
  /** `ref`: the id of the message or request that holds the decisions. */
  readonly via: { readonly protocol: string; readonly ref?: string }
}

export interface RunDecision {
  readonly approval: ApprovalRecord
  readonly granted: boolean
  readonly reason?: string | undefined
}

/**
 * Passes decisions on open approvals of one run to the run. Several decisions continue the run together. An approval that
 * has been decided meanwhile, and one of a run that has ended, stay as they are.
 *
 * @returns whether a decision has been taken
 * @throws AppError `scope-denied` if the caller may not decide one of them
 */
export async function decideRun(
  deps: DecideRunDeps,
  decider: Decider,
  decisions: readonly RunDecision[],
): Promise<boolean> {
  const [first] = decisions
  const { principal, visibility, via } = decider
  if (first === undefined) return false
  if (decisions.length === 1 && isOfCall(first)) return resolve(deps, decider, first)
  try {
    const approvals = decisions.map(({ approval: { id }, granted, reason }) => ({ id, granted, reason }))
    const { runId } = first.approval
    await deps.resumeRun({ runId, principal, visibility, via, approvals, answer: 'accepted' })
    return true
  } catch (error) {
    if (!isLate(error)) throw error
    const taken: boolean[] = []
    for (const one of decisions) if (isOfCall(one)) taken.push(await resolve(deps, decider, one))
    return taken.includes(true)
  }
}

/** An approval that a call requests can be decided while the run executes; any other one belongs to a suspension. */
const isOfCall = ({ approval }: RunDecision): boolean => approval.seq !== undefined

async function resolve(
  { resolveApproval }: DecideRunDeps,
  { principal, via }: Decider,
  { approval: { id: approvalId }, granted, reason }: RunDecision,
): Promise<boolean> {
  const { subject: by, tokenId, origin } = principal
  const visibility = authorizeOperation(principal, OPERATION_TABLES.approvals.resolveApproval, { approvalId })
  try {
    await resolveApproval({ approvalId, granted, reason, by, tokenId, origin, visibility, via })
    return true
  } catch (error) {
    if (isLate(error)) return false
    throw error
  }
}

const LATE: ReadonlySet<string> = new Set(['approval-resolved', 'run-not-suspended', 'run-not-active'])

/** Whether the error says that somebody or something else was faster than the answer of the client. */
export const isLate = (error: unknown): boolean => error instanceof AppError && LATE.has(error.id)
