import {
  authorizeOperation,
  type Principal,
  type ResolveApproval,
  type ResumeRun,
  type SentToolResult,
} from '@perdure/core'
import { type ApprovalRecord, isRefusal, type Visibility } from '@perdure/ports'
import { OPERATION_TABLES } from '@perdure/protocol'

export interface AnswerRunDeps {
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
  readonly approved: boolean
  readonly reason?: string | undefined
}

/** Answers to one run. */
export interface RunAnswers {
  readonly decisions: readonly RunDecision[]
  /** Results of tools that the client performs for the run. */
  readonly results?: readonly SentToolResult[]
}

/**
 * Passes decisions on open approvals of a run, and results of its open tool calls, to the run. Several answers continue
 * the run together. An approval that has been decided meanwhile, a call that has ended, and a run that has ended stay as
 * they are.
 *
 * @returns whether an answer has been taken
 * @throws PerdureError `scope-denied` or `approval-not-assigned` if the caller may not decide one of the approvals
 */
export async function answerRun(
  deps: AnswerRunDeps,
  decider: Decider,
  runId: string,
  { decisions, results = [] }: RunAnswers,
): Promise<boolean> {
  const [first] = decisions
  const { principal, visibility, via } = decider
  if (decisions.length + results.length === 0) return false
  if (first !== undefined && decisions.length + results.length === 1 && isOfCall(first)) {
    return resolve(deps, decider, first)
  }
  try {
    const approvals = decisions.map(({ approval: { id }, approved, reason }) => ({ id, approved, reason }))
    await deps.resumeRun({ runId, principal, visibility, via, approvals, toolResults: results, answer: 'accepted' })
    return true
  } catch (error) {
    if (!isLate(error)) throw error
    return answerOneByOne(deps, decider, runId, { decisions, results })
  }
}

/** One late answer must not withhold the others. */
async function answerOneByOne(
  deps: AnswerRunDeps,
  decider: Decider,
  runId: string,
  { decisions, results }: Required<RunAnswers>,
): Promise<boolean> {
  const taken: boolean[] = []
  if (decisions.length > 0 && results.length > 0) {
    taken.push(await answerRun(deps, decider, runId, { decisions: [], results }))
    taken.push(await answerRun(deps, decider, runId, { decisions }))
  } else {
    for (const one of decisions) if (isOfCall(one)) taken.push(await resolve(deps, decider, one))
  }
  return taken.includes(true)
}

/** An approval that a call requests can be decided while the run executes; any other one belongs to a suspension. */
const isOfCall = ({ approval }: RunDecision): boolean => approval.seq !== undefined

async function resolve(
  { resolveApproval }: AnswerRunDeps,
  { principal, via }: Decider,
  { approval: { id: approvalId }, approved, reason }: RunDecision,
): Promise<boolean> {
  const { subject: by, scopes, tokenId, origin } = principal
  const visibility = authorizeOperation(principal, OPERATION_TABLES.approvals.resolveApproval, { approvalId })
  try {
    await resolveApproval({ approvalId, approved, reason, by, scopes, tokenId, origin, visibility, via })
    return true
  } catch (error) {
    if (isLate(error)) return false
    throw error
  }
}

const LATE: ReadonlySet<string> = new Set([
  'approval-resolved',
  'tool-call-ended',
  'run-not-suspended',
  'run-not-active',
])

/** Whether the error says that somebody or something else was faster than the answer of the client. */
export const isLate = (error: unknown): boolean => isRefusal(error) && LATE.has(error.code)
