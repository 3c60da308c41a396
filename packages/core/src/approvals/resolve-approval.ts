import { isTerminal } from '@perdure/protocol'
import {
  AppError,
  type ApprovalStore,
  type Clock,
  EVERY_ROW,
  type RequestOrigin,
  type RunStore,
  type Visibility,
} from '@perdure/ports'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { toApprovalResource } from './approval-resource.ts'
import type { DecideApprovals, Deciding } from './decide-approvals.ts'
import { type Decision, decisionAudit, isOpenTo, resolutionOf } from './decision.ts'

export interface ResolveApprovalDeps {
  readonly approvals: ApprovalStore
  readonly runs: RunStore
  readonly clock: Clock
  readonly decideApprovals: DecideApprovals
}

export interface ResolveApprovalRequest extends Decision {
  readonly approvalId: string
  readonly by: string // subject of who decides
  readonly tokenId?: string | undefined // of who decides
  readonly origin?: RequestOrigin | undefined
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

/**
 * Decides an approval, once: the first decision wins and lets its run go on. The same decision again is the same answer.
 *
 * @throws AppError `approval-not-found`; `approval-resolved` when it was decided differently; `run-not-active`
 */
export type ResolveApproval = (request: ResolveApprovalRequest) => Promise<Reply>

export function createResolveApproval(deps: ResolveApprovalDeps): ResolveApproval {
  const { approvals, decideApprovals } = deps

  return async (request) => {
    const { approvalId, visibility, key } = request
    const approval = await approvals.find(approvalId, visibility)
    if (approval === undefined) throw new AppError('approval-not-found')
    const once = await decideApprovals({ runId: approval.runId, key, prepare: () => prepare(deps, request) })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

async function prepare(
  { approvals, runs, clock }: ResolveApprovalDeps,
  { approvalId, by, tokenId, origin, visibility, ...decision }: ResolveApprovalRequest,
): Promise<Deciding> {
  const approval = await approvals.find(approvalId, visibility)
  const run = approval && (await runs.find(approval.runId, EVERY_ROW))
  if (approval === undefined || run === undefined) throw new AppError('approval-not-found')
  const answer = (shown: typeof approval) => () => ({
    reply: { status: 200, body: toApprovalResource(shown) },
    remember: true,
  })
  if (!isOpenTo(approval, decision)) return { run, decided: [], writes: [], answer: answer(approval) }

  if (isTerminal(run.status)) throw new AppError('run-not-active', { message: 'the run that asked has ended' })
  const decider = { subject: by, tokenId, origin }
  const resolution = resolutionOf(decision, decider, clock.now())
  return {
    run,
    decided: [{ approval, resolution }],
    writes: [decisionAudit(approval.id, decider, resolution)],
    answer: answer({ ...approval, ...resolution }),
  }
}
