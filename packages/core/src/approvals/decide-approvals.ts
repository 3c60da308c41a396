import {
  type ApprovalRecord,
  type ApprovalResolution,
  type ApprovalStore,
  type EpochMs,
  EVERY_ROW,
  fromJsonText,
  type NewEvent,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type StepStore,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { isOpenApproval } from '@perdure/protocol'
import type { KeyedMutex } from '../concurrency/mutex.ts'
import { type ApprovalEventDetail, approvalEvents } from '../durable/approvals/approval-events.ts'
import { planResolution, type ResolvedWait, type WaitResolution } from '../durable/wait-resolution.ts'
import type { WakeRun } from '../durable/wake-run.ts'
import { type CommitOnceDeps, type CommitOnceResult, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { activeAncestors } from '../runs/active-ancestors.ts'
import type { Via } from '../runs/run-events.ts'
import { awaitsResume, readSuspension, storeResumption } from '../runs/stored-suspension.ts'
import { asksToRepeat } from './asks-to-repeat.ts'

export interface DecideApprovalsDeps extends CommitOnceDeps {
  readonly approvals: ApprovalStore
  readonly steps: StepStore
  readonly runs: RunStore
  readonly runMutex: KeyedMutex
  readonly wakeRun: WakeRun
}

/** An open approval and the resolution to store. */
export interface ResolvedApproval {
  readonly approval: ApprovalRecord
  readonly resolution: ApprovalResolution
}

/** Resolutions of approvals of one run, to be committed together. */
export interface DecisionPlan {
  readonly run: RunRecord
  readonly resolved: readonly ResolvedApproval[]
  /** Passed to the run when these resolutions resume it. */
  readonly payload?: unknown
  /** Other waits of the run that end in the same commit, and the events that tell why. */
  readonly waits?: readonly ResolvedWait[]
  readonly events?: readonly NewEvent[]
  /** The protocol through which the decisions came. */
  readonly via?: Via | undefined
  readonly writes: readonly Write[]
  /** Builds the answer; `resumed` is the updated run, or `undefined` if the run stays suspended. */
  readonly answer: (resumed: RunRecord | undefined) => Omit<Decision, 'writes'>
}

/**
 * Resolves approvals of one run, all or none: the decisions, the results of the waiting calls, the resumed run and the
 * idempotency record are one commit. Calls `prepare` again after a write conflict.
 *
 * @throws PerdureError what `prepare` throws; `idempotency-conflict`, `idempotency-in-flight`
 */
export type DecideApprovals = (request: {
  readonly runId: string
  readonly key?: KeyedRequest | undefined
  readonly prepare: () => Promise<DecisionPlan>
}) => Promise<CommitOnceResult>

export function createDecideApprovals(deps: DecideApprovalsDeps): DecideApprovals {
  return ({ runId, key, prepare }) =>
    deps.runMutex(runId, async () => {
      let onCommitted: (() => void) | undefined
      const result = await commitOnce(deps, key, async () => {
        const plan = await prepare()
        const { run, resolved, waits: others = [] } = plan
        onCommitted = undefined
        if (resolved.length + others.length === 0) return { writes: plan.writes, ...plan.answer(undefined) }
        const stillOpen = await otherPending(deps, plan)
        const waits = await resolveWaits(deps, plan, stillOpen)
        onCommitted = () => deps.wakeRun(run, waits)
        const ancestors = await activeAncestors(deps.runs, run)
        return { writes: writesOf(plan, waits, { stillOpen, ancestors }), ...plan.answer(waits.resumed) }
      })
      if (result.kind === 'committed') onCommitted?.()
      return result
    })
}

async function resolveWaits(
  deps: DecideApprovalsDeps,
  { run, resolved, waits = [], payload, via }: DecisionPlan,
  stillOpen: readonly string[] | undefined,
): Promise<WaitResolution> {
  const resolvedWaits = await Promise.all(resolved.map((one) => resolvedWaitOf(deps.steps, one)))
  const resumes = stillOpen?.length === 0
  return planResolution(run, [...resolvedWaits.flat(), ...waits], {
    at: deps.clock.now(),
    via,
    resumption: resumes ? storeResumption(payload) : undefined,
  })
}

const writesOf = (
  { resolved, writes, via, events = [] }: DecisionPlan,
  waits: WaitResolution,
  {
    stillOpen = [],
    ancestors,
  }: { readonly stillOpen: readonly string[] | undefined; readonly ancestors: readonly string[] },
): readonly Write[] => [
  ...writes,
  ...resolved.map(
    ({ approval: { id }, resolution }): Write => ({
      type: 'approval.resolve',
      id,
      resolution,
    }),
  ),
  ...waits.writes,
  // Otherwise two concurrent decisions could each see the other approval as pending, and neither would resume the run.
  ...(stillOpen.length === 0 ? [] : [{ type: 'approval.fence', ids: stillOpen } as const]),
  {
    type: 'event.append',
    events: [...resolved.flatMap((one) => eventsOf(one, { via, ancestors })), ...events, ...waits.events],
  },
]

const eventsOf = (
  { approval, resolution }: ResolvedApproval,
  detail: Pick<ApprovalEventDetail, 'via' | 'ancestors'>,
) => {
  const type = resolution.status === 'expired' ? 'approval.expired' : 'approval.resolved'
  return approvalEvents({ ...approval, ...resolution }, type, { ...detail, at: resolution.resolvedAt })
}

/**
 * The other approvals that the run waits for; the run resumes when there are none. `undefined` when the run does not wait
 * for the decided approvals, which may belong to an earlier suspension.
 */
async function otherPending(
  { approvals }: DecideApprovalsDeps,
  { run, resolved }: DecisionPlan,
): Promise<readonly string[] | undefined> {
  const { approvalIds = [] } = readSuspension(run) ?? {}
  const resolvedIds = new Set(resolved.map(({ approval }) => approval.id))
  if (!awaitsResume(run) || !approvalIds.some((id) => resolvedIds.has(id))) return undefined
  const others = await Promise.all(
    approvalIds.filter((id) => !resolvedIds.has(id)).map((id) => approvals.find(id, EVERY_ROW)),
  )
  return others.flatMap((one) => (one !== undefined && isOpenApproval(one.status) ? [one.id] : []))
}

/** The call that waits for the approval. Empty if the run is suspended as a whole and no call waits. */
async function resolvedWaitOf(
  steps: StepStore,
  { approval, resolution }: ResolvedApproval,
): Promise<readonly ResolvedWait[]> {
  const { seq, runId, toolCallId } = approval
  const step = seq === undefined ? undefined : await steps.find(runId, seq)
  return step?.status === 'waiting' ? [{ step, toolCallId, ...changeOf(step, resolution) }] : []
}

/** A step that asked to run again is started or fails; any other call receives the decision as its result. */
function changeOf(step: StepRecord, resolution: ApprovalResolution): Omit<ResolvedWait, 'step'> {
  const { status, reason, by, decision, editedArgs, resolvedAt } = resolution
  const approved = status === 'approved'
  const payload = decision === undefined ? undefined : fromJsonText(decision)
  const args = editedArgs === undefined ? undefined : fromJsonText(editedArgs)
  if (!asksToRepeat(step)) return { result: toJsonText({ approved, reason, payload, by, args }) }
  if (approved) return { change: ({ attempt }) => ({ status: 'started', attempt }) }
  return { change: refusedChange(step, reason, resolvedAt) }
}

const refusedChange = ({ name }: StepRecord, reason: string | undefined, endedAt: EpochMs) => ({
  status: 'failed' as const,
  error: {
    code: 'step-failed',
    message: `${name} was executing when the server stopped, so it may have taken effect; it must not run again: ${reason ?? 'denied'}`,
  },
  endedAt,
})
