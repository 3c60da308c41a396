import {
  type ApprovalRecord,
  type ApprovalStore,
  type Clock,
  type CommitOutcome,
  EVERY_ROW,
  type JsonText,
  type NewEvent,
  type RunRecord,
  type RunStore,
  type UnitOfWork,
  type Write,
} from '@berth/ports'
import { lifecycleEvent } from './run-events.ts'
import { isTerminal } from './run-states.ts'
import { awaitsResume, readSuspension, storeResumption } from './suspension.ts'

export interface ResumeSuspendedDeps {
  readonly runs: RunStore
  readonly approvals: ApprovalStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly relaunch: (run: RunRecord) => void
}

/** What else belongs into the commit. */
export interface ResumeExtras {
  readonly writes: readonly Write[]
  readonly events: readonly NewEvent[]
}

export type ResumeResult = 'settled' | 'over' | CommitOutcome

/** Lets a run go on that has suspended itself. */
export interface ResumeSuspended {
  /** Resumes with a payload, whatever approvals are open. `over` when the run does not wait for that. */
  withPayload(run: RunRecord, payload: unknown, extras: ResumeExtras): Promise<ResumeResult>
  /** Commits the decision on one of its approvals; the last one resumes the run. */
  afterApproval(approval: ApprovalRecord, extras: ResumeExtras & { readonly payload: unknown }): Promise<ResumeResult>
}

export function createResumeSuspended(deps: ResumeSuspendedDeps): ResumeSuspended {
  const { runs, approvals, unitOfWork, relaunch } = deps
  const queues = new Map<string, Promise<unknown>>()

  /** Decisions on one run follow one another, so that exactly one of them is the last. */
  const inTurn = <T>(runId: string, work: () => Promise<T>): Promise<T> => {
    const turn = (queues.get(runId) ?? Promise.resolve()).then(work, work)
    queues.set(runId, turn)
    const leave = () => {
      if (queues.get(runId) === turn) queues.delete(runId)
    }
    turn.then(leave, leave)
    return turn
  }

  const commit = async (
    run: RunRecord,
    resumption: JsonText | undefined,
    extras: ResumeExtras,
  ): Promise<ResumeResult> => {
    const { writes, resumed } = planResume(deps, run, { resumption, ...extras })
    const outcome = await unitOfWork.commit(writes)
    if (!outcome.committed) return outcome
    if (resumed !== undefined) relaunch(resumed)
    return 'settled'
  }

  /** Whether the run waits for this one decision and no other; approvals of an earlier part may stay open. */
  const isLastOpen = async (run: RunRecord, { id }: ApprovalRecord) => {
    const { approvalIds = [] } = readSuspension(run) ?? {}
    if (!approvalIds.includes(id)) return false
    const asked = await Promise.all(approvalIds.map((one) => approvals.find(one, EVERY_ROW)))
    return asked.every((one) => one?.status !== 'pending' || one.id === id)
  }

  return {
    withPayload: (run, payload, extras) =>
      inTurn(run.id, async () => (awaitsResume(run) ? commit(run, storeResumption(payload), extras) : 'over')),
    afterApproval: (approval, { payload, ...extras }) =>
      inTurn(approval.runId, async () => {
        const run = await runs.find(approval.runId, EVERY_ROW)
        if (run === undefined || isTerminal(run.status)) return 'over'
        const resumes = awaitsResume(run) && (await isLastOpen(run, approval))
        return commit(run, resumes ? storeResumption(payload) : undefined, extras)
      }),
  }
}

interface ResumePlan extends ResumeExtras {
  readonly resumption: JsonText | undefined
}

function planResume({ clock }: ResumeSuspendedDeps, run: RunRecord, { resumption, writes, events }: ResumePlan) {
  const guard = { type: 'run.transition', runId: run.id, from: [run.status], attempt: run.attempt } as const
  if (resumption === undefined) {
    return {
      writes: [...writes, { ...guard, change: {} }, { type: 'event.append', events } as const],
      resumed: undefined,
    }
  }
  const resumed: RunRecord = { ...run, status: 'queued', resumption }
  const told = lifecycleEvent(resumed, 'run.resumed', { at: clock.now(), reason: 'resume' })
  return {
    writes: [
      ...writes,
      { ...guard, change: { status: 'queued', resumption } } as const,
      { type: 'event.append', events: [...events, told] } as const,
    ],
    resumed,
  }
}
