import {
  type ApprovalRecord,
  type ApprovalResolution,
  type ApprovalStore,
  type EpochMs,
  EVERY_ROW,
  fromJsonText,
  type RunRecord,
  type StepRecord,
  type StepStore,
  toJsonText,
  type Write,
} from '@perdure/ports'
import type { KeyedMutex } from '../concurrency/mutex.ts'
import { approvalEvents } from '../durable/approval-events.ts'
import { planResolution, type ResolvedWait, type WaitResolution } from '../durable/wait-resolution.ts'
import type { WakeRun } from '../durable/wake-run.ts'
import { type CommitOnceDeps, commitOnce, type Decision, type Once } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { awaitsResume, readSuspension, storeResumption } from '../runs/stored-suspension.ts'

export interface DecideApprovalsDeps extends CommitOnceDeps {
  readonly approvals: ApprovalStore
  readonly steps: StepStore
  readonly runMutex: KeyedMutex
  readonly wakeRun: WakeRun
}

/** An open approval, and how it comes out. */
export interface Decided {
  readonly approval: ApprovalRecord
  readonly resolution: ApprovalResolution
}

/** Decisions of one run that are taken together. */
export interface Deciding {
  readonly run: RunRecord
  readonly decided: readonly Decided[]
  /** What the run is resumed with when these are the last decisions it needs. */
  readonly payload?: unknown
  readonly writes: readonly Write[]
  /** What is answered; `resumed` is the run as it is then, when it goes on. */
  readonly answer: (resumed: RunRecord | undefined) => Omit<Decision, 'writes'>
}

/**
 * Decides approvals of one run, all of them or none: decisions, outcomes of the calls that wait, the run that goes on and
 * the record of the key are one commit. `prepare` is called again when somebody else was faster.
 *
 * @throws AppError what `prepare` throws; `idempotency-conflict`, `idempotency-in-flight`
 */
export type DecideApprovals = (request: {
  readonly runId: string
  readonly key?: KeyedRequest | undefined
  readonly prepare: () => Promise<Deciding>
}) => Promise<Once>

export function createDecideApprovals(deps: DecideApprovalsDeps): DecideApprovals {
  return ({ runId, key, prepare }) =>
    deps.runMutex(runId, async () => {
      let after: (() => void) | undefined
      const once = await commitOnce(deps, key, async () => {
        const deciding = await prepare()
        const { run, decided } = deciding
        after = undefined
        if (decided.length === 0) return { writes: deciding.writes, ...deciding.answer(undefined) }
        const settlement = await settlementOf(deps, deciding)
        after = () => deps.wakeRun(run, settlement)
        return { writes: writesOf(deciding, settlement), ...deciding.answer(settlement.resumed) }
      })
      if (once.kind === 'committed') after?.()
      return once
    })
}

async function settlementOf(deps: DecideApprovalsDeps, { run, decided, payload }: Deciding): Promise<WaitResolution> {
  const settlings = await Promise.all(decided.map((one) => settlingOf(deps.steps, one)))
  const resumes = awaitsResume(run) && (await areLast(deps, run, decided))
  return planResolution(run, settlings.flat(), {
    at: deps.clock.now(),
    ...(resumes ? { resumption: storeResumption(payload) } : {}),
  })
}

const writesOf = ({ decided, writes }: Deciding, settlement: WaitResolution): readonly Write[] => [
  ...writes,
  ...decided.map(
    ({ approval: { id }, resolution }): Write => ({
      type: 'approval.resolve',
      id,
      resolution,
    }),
  ),
  ...settlement.writes,
  { type: 'event.append', events: [...decided.flatMap(eventsOf), ...settlement.events] },
]

const eventsOf = ({ approval, resolution }: Decided) => {
  const type = resolution.status === 'expired' ? 'approval.expired' : 'approval.resolved'
  return approvalEvents({ ...approval, ...resolution }, type, resolution.resolvedAt)
}

/** Whether the run waits for these decisions and no other; approvals of an earlier part may stay open. */
async function areLast(
  { approvals }: DecideApprovalsDeps,
  run: RunRecord,
  decided: readonly Decided[],
): Promise<boolean> {
  const { approvalIds = [] } = readSuspension(run) ?? {}
  const deciding = new Set(decided.map(({ approval }) => approval.id))
  if (!approvalIds.some((id) => deciding.has(id))) return false
  const others = await Promise.all(
    approvalIds.filter((id) => !deciding.has(id)).map((id) => approvals.find(id, EVERY_ROW)),
  )
  return others.every((one) => one?.status !== 'pending')
}

/** The call that waits for the approval, if one does: a run may also be suspended as a whole. */
async function settlingOf(steps: StepStore, { approval, resolution }: Decided): Promise<readonly ResolvedWait[]> {
  const { seq, runId } = approval
  const step = seq === undefined ? undefined : await steps.find(runId, seq)
  return step?.status === 'waiting' ? [{ step, ...endOf(step, resolution) }] : []
}

/** A step that asked whether it may run again is started or fails; anything else gets the decision as its result. */
function endOf(step: StepRecord, resolution: ApprovalResolution): Omit<ResolvedWait, 'step'> {
  const { status, reason, by, decision, resolvedAt } = resolution
  const granted = status === 'granted'
  const payload = decision === undefined ? undefined : fromJsonText(decision)
  if (step.kind !== 'step') return { result: toJsonText({ granted, reason, payload, by }) }
  if (granted) return { change: ({ attempt }) => ({ status: 'started', attempt }) }
  return { change: refusedChange(step, reason, resolvedAt) }
}

const refusedChange = ({ name }: StepRecord, reason: string | undefined, endedAt: EpochMs) => ({
  status: 'failed' as const,
  error: { code: 'step-failed', message: `${name} may not run again: ${reason ?? 'denied'}` },
  endedAt,
})
