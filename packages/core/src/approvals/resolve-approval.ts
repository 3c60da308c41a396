import {
  type ApprovalStore,
  type CheckJson,
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
import { decisionAudit, resolutionOf, type SubmittedDecision } from './decision.ts'

export interface ResolveApprovalDeps {
  readonly approvals: ApprovalStore
  readonly runs: RunStore
  readonly clock: Clock
  readonly checkJson?: CheckJson | undefined
  readonly decideApprovals: DecideApprovals
}

export interface ResolveApprovalRequest extends SubmittedDecision {
  readonly approvalId: string
  readonly by: string // subject of the decider
  /** Scopes of the decider. Without any, it can decide only what is assigned to nobody or to it as the user. */
  readonly scopes?: readonly string[] | undefined
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
 * @throws PerdureError `approval-not-found`; `approval-resolved` if it was decided differently;
 *   `approval-not-assigned`; `approval-not-editable`; `validation-failed`; `run-not-active`
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
  { approvals, runs, clock, checkJson }: ResolveApprovalDeps,
  { approvalId, by, scopes = [], tokenId, origin, visibility, via, ...decision }: ResolveApprovalRequest,
): Promise<DecisionPlan> {
  const approval = await approvals.find(approvalId, visibility)
  const run = approval && (await runs.find(approval.runId, EVERY_ROW))
  if (approval === undefined || run === undefined) throw perdureError('approval-not-found')
  const answer = (shown: typeof approval) => () => ({
    reply: { status: 200, body: toApprovalResource(shown) },
    remember: true,
  })
  const decider = { subject: by, scopes, tokenId, origin }
  const resolution = await resolutionOf(approval, decision, { decider, at: clock.now(), checkJson })
  if (resolution === undefined) return { run, resolved: [], writes: [], answer: answer(approval) }

  if (isTerminal(run.status)) throw perdureError('run-not-active', { message: 'the run of this approval has ended' })
  return {
    run,
    resolved: [{ approval, resolution }],
    via,
    writes: [decisionAudit({ approval, resolution }, decider, via)],
    answer: answer({ ...approval, ...resolution }),
  }
}
