import {
  AppError,
  type ApprovalRecord,
  type ApprovalResolution,
  type ApprovalStore,
  type StepRecord,
  type StepStore,
  toJsonText,
  type Visibility,
  type Write,
} from '@berth/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { type CommitOnceDeps, commitOnce, reservation } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { answerAgain } from '../idempotency/recall.ts'
import type { Reply } from '../reply.ts'
import type { ResumeSuspended } from '../runs/resume-suspended.ts'
import type { SettleWait, WaitEnd } from '../steps/settle-wait.ts'
import { approvalEvents } from './approval-events.ts'
import { toApprovalResource } from './approval-resource.ts'

export interface ResolveApprovalDeps extends CommitOnceDeps {
  readonly approvals: ApprovalStore
  readonly steps: StepStore
  readonly settleWait: SettleWait
  readonly resumeSuspended: ResumeSuspended
}

export interface Decision {
  readonly granted: boolean
  readonly reason?: string | undefined
  readonly payload?: unknown
}

export interface ResolveApprovalRequest extends Decision {
  readonly approvalId: string
  readonly by: string // subject of who decides
  readonly tokenId?: string | undefined // of who decides
  readonly visibility: Visibility
  /** What the run is resumed with when this is the last decision it needs. */
  readonly resumePayload?: unknown
  readonly key?: KeyedRequest | undefined
}

/**
 * Decides an approval, once: the first decision wins and lets its run go on. The same decision again is the same answer.
 *
 * @throws AppError `approval-not-found`; `approval-resolved` when it was decided differently; `run-not-active`
 */
export type ResolveApproval = (request: ResolveApprovalRequest) => Promise<Reply>

export function createResolveApproval(deps: ResolveApprovalDeps): ResolveApproval {
  const { approvals, clock } = deps

  return async (request) => {
    for (;;) {
      const approval = await approvals.find(request.approvalId, request.visibility)
      if (approval === undefined) throw new AppError('approval-not-found')
      if (approval.status !== 'pending') return answerDecided(deps, request, approval)
      const resolution = resolutionOf(request, clock.now())
      const reply: Reply = { status: 200, body: toApprovalResource({ ...approval, ...resolution }) }
      const replayed = await decide(deps, request, { approval, resolution, reply })
      if (replayed === 'done') return reply
      if (replayed !== 'again') return replayed
    }
  }
}

interface Resolving {
  readonly approval: ApprovalRecord
  readonly resolution: ApprovalResolution
  readonly reply: Reply
}

/** `again` when somebody else was faster. */
async function decide(
  deps: ResolveApprovalDeps,
  request: ResolveApprovalRequest,
  { approval, resolution, reply }: Resolving,
): Promise<'done' | 'again' | Reply> {
  const { steps, settleWait, resumeSuspended } = deps
  const writes: Write[] = [
    ...reservation(deps, request.key, { reply, remember: true, writes: [] }),
    { type: 'approval.resolve', id: approval.id, resolution },
    auditWrite(
      { subject: request.by, tokenId: request.tokenId },
      {
        at: resolution.resolvedAt,
        action: 'approvals.resolve',
        target: approval.id,
        detail: { granted: request.granted },
      },
    ),
  ]
  const events = () => approvalEvents({ ...approval, ...resolution }, 'approval.resolved', resolution.resolvedAt)
  const step = approval.seq === undefined ? undefined : await steps.find(approval.runId, approval.seq)
  const outcome =
    step === undefined
      ? await resumeSuspended.afterApproval(approval, { writes, events: events(), payload: request.resumePayload })
      : await settleWait(step, { ...endOf(step, request, resolution), writes, events })
  if (outcome === 'settled') return 'done'
  if (outcome === 'over') return afterOver(deps, request)
  if (!outcome.committed && outcome.conflict.type === 'idempotency.reserve' && request.key !== undefined) {
    return answerAgain(outcome.conflict.current, request.key, deps)
  }
  return 'again'
}

/** The wait is over: either somebody decided in the meantime, or the run has ended. */
async function afterOver(
  { approvals }: ResolveApprovalDeps,
  { approvalId, visibility }: ResolveApprovalRequest,
): Promise<'again'> {
  const now = await approvals.find(approvalId, visibility)
  if (now?.status === 'pending') throw new AppError('run-not-active', { message: 'the run that asked has ended' })
  return 'again'
}

/** A step that asked whether it may run again is started or fails; anything else gets the decision as its result. */
function endOf(step: StepRecord, request: ResolveApprovalRequest, { resolvedAt }: ApprovalResolution): WaitEnd {
  const { granted, reason, payload, by } = request
  if (step.kind !== 'step') return { result: toJsonText({ granted, reason, payload, by }) }
  const error = { code: 'step-failed', message: `${step.name} may not run again: ${reason ?? 'denied'}` }
  if (!granted) return { change: { status: 'failed', error, settledAt: resolvedAt } }
  return { change: ({ attempt }) => ({ status: 'started', attempt }) }
}

async function answerDecided(
  deps: ResolveApprovalDeps,
  { granted, key }: ResolveApprovalRequest,
  approval: ApprovalRecord,
): Promise<Reply> {
  const isSame = approval.status === (granted ? 'granted' : 'denied')
  if (!isSame) {
    const by = approval.by === undefined ? '' : ` by ${approval.by}`
    throw new AppError('approval-resolved', { message: `the approval was already ${approval.status}${by}` })
  }
  const reply: Reply = { status: 200, body: toApprovalResource(approval) }
  const once = await commitOnce(deps, key, async () => ({ writes: [], reply, remember: true }))
  return once.kind === 'replayed' ? once.reply : reply
}

function resolutionOf(
  request: ResolveApprovalRequest,
  resolvedAt: ApprovalResolution['resolvedAt'],
): ApprovalResolution {
  const { granted, reason, payload, by } = request
  return {
    status: granted ? 'granted' : 'denied',
    by,
    reason,
    decision: payload === undefined ? undefined : toJsonText(payload),
    resolvedAt,
  }
}
