import {
  type ApprovalStore,
  type Clock,
  EVERY_ROW,
  perdureError,
  type RequestOrigin,
  type RunStore,
  type Visibility,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { Via } from '../runs/run-events.ts'
import { toApprovalResource } from './approval-resource.ts'
import type { DecideApprovals, DecisionPlan } from './decide-approvals.ts'
import { decisionAudit, isUndecided, resolutionOf, type SubmittedDecision } from './decision.ts'

export interface ResolveApprovalDeps {
  readonly approvals: ApprovalStore
  readonly runs: RunStore
  readonly clock: Clock
  readonly decideApprovals: DecideApprovals
}

export interface ResolveApprovalRequest extends SubmittedDecision {
  readonly approvalId: string
  readonly by: string // subject of the decider
  readonly tokenId?: string | undefined // of the decider
  readonly origin?: RequestOrigin | undefined
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
  /** The protocol through which the request came. */
  readonly via?: Via | undefined
}

/**
 * Decides an approval once: the first decision wins and continues the run. Repeating the same decision returns the same
 * answer.
 *
 * @throws PerdureError `approval-not-found`; `approval-resolved` if it was decided differently; `run-not-active`
 */
export type ResolveApproval = (request: ResolveApprovalRequest) => Promise<Reply>

export function createResolveApproval(deps: ResolveApprovalDeps): ResolveApproval {
  const { approvals, decideApprovals } = deps

  return async (request) => {
    const { approvalId, visibility, key } = request
    const approval = await approvals.find(approvalId, visibility)
    if (approval === undefined) throw perdureError('approval-not-found')
    const result = await decideApprovals({ runId: approval.runId, key, prepare: () => prepare(deps, request) })
    return result.kind === 'replayed' ? result.reply : result.decision.reply
  }
}

async function prepare(
  { approvals, runs, clock }: ResolveApprovalDeps,
  { approvalId, by, tokenId, origin, visibility, via, ...decision }: ResolveApprovalRequest,
): Promise<DecisionPlan> {
  const approval = await approvals.find(approvalId, visibility)
  const run = approval && (await runs.find(approval.runId, EVERY_ROW))
  if (approval === undefined || run === undefined) throw perdureError('approval-not-found')
  const answer = (shown: typeof approval) => () => ({
    reply: { status: 200, body: toApprovalResource(shown) },
    remember: true,
  })
  if (!isUndecided(approval, decision)) return { run, resolved: [], writes: [], answer: answer(approval) }

  if (isTerminal(run.status)) throw perdureError('run-not-active', { message: 'the run of this approval has ended' })
  const decider = { subject: by, tokenId, origin }
  const resolution = resolutionOf(decision, decider, clock.now())
  return {
    run,
    resolved: [{ approval, resolution }],
    via,
    writes: [decisionAudit({ approval, resolution }, decider, via)],
    answer: answer({ ...approval, ...resolution }),
  }
}
