import {
  type ApprovalStore,
  type Clock,
  EVERY_ROW,
  type RunError,
  type RunRecord,
  type RunStore,
  type StepChange,
  type StepStore,
  type UnitOfWork,
  type Write,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES, isTerminal } from '@perdure/protocol'
import { closeApproval } from '../approvals/expire-approval.ts'
import { eachItem } from '../collections/each-item.ts'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import type { ResolveWait } from '../durable/resolve-wait.ts'
import { abortIfActive } from '../runs/abort-if-active.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { isBackground } from '../runs/background-run.ts'
import { eachRun } from '../runs/each-run.ts'
import { childEvent } from '../runs/run-events.ts'
import type { OutcomeInfo } from '../runs/run-waiters.ts'
import { needsFollowUp } from './end-run.ts'
import { INTERRUPTED } from './interrupted.ts'
import type { ReportEnd } from './report-end.ts'
import type { Runner } from './runner.ts'

export interface FollowUpDeps {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly resolveWait: ResolveWait
  readonly abortRun: AbortRun
  readonly reportEnd: ReportEnd
}

/**
 * Applies the end of a run to other records: wakes its parent, aborts its children, expires its open approvals, and tells its
 * conversation.
 */
export type FollowUp = (run: RunRecord, info?: OutcomeInfo) => Promise<void>

export function createFollowUp(deps: FollowUpDeps & RetryDeps & Pick<Runner, 'relaunch'>): FollowUp {
  const retry = <T>(work: () => Promise<T>) => retryTransient(deps, work)

  return async (run, info = {}) => {
    if (!isTerminal(run.status) || !needsFollowUp(run, info)) return
    const done = followedUp(run)
    if (info.hasDependents === false && (await retry(() => wakeParent(deps, run, [done])))) return
    // Each part is idempotent, so it can be retried.
    const parts = info.hasDependents === false ? [] : [wakeParent, abortChildren, expireApprovals]
    await Promise.all(parts.map((part) => retry(async () => void (await part(deps, run)))))
    const message = await retry(() => deps.reportEnd(run))
    if (message !== undefined) deps.relaunch(message)
    await retry(() => deps.unitOfWork.commit([done]))
  }
}

/** Does the follow-ups that a crash prevented. Called when the server starts, before any run executes. */
export async function resumeFollowUps(deps: FollowUpDeps): Promise<void> {
  for (;;) {
    const runs = await deps.runs.needingFollowUp(BATCH)
    if (runs.length === 0) return
    for (const run of runs) {
      if (!isTerminal(run.status)) await abortReplaced(deps, run)
      await wakeParent(deps, run)
      await abortChildren(deps, run)
      await expireApprovals(deps, run)
      // A turn that it starts is queued; the server executes queued runs once it has started.
      if (isTerminal(run.status)) await deps.reportEnd(run)
      await deps.unitOfWork.commit([followedUp(run)])
    }
  }
}

/** A run that a newer one has withdrawn or interrupted still works, because a crash came before its abort. */
async function abortReplaced({ abortRun }: FollowUpDeps, { id, withdrawnBy }: RunRecord): Promise<void> {
  const reason = withdrawnBy === undefined ? INTERRUPTED : 'withdrawn by a newer run'
  await abortIfActive(abortRun, { runId: id, reason, visibility: EVERY_ROW })
}

const BATCH = 64

const followedUp = ({ id }: RunRecord): Write => ({ type: 'run.followed-up', runId: id })

/** @returns whether the parent's call ended, in a commit that begins with `writes` */
async function wakeParent(
  { steps, resolveWait, clock }: FollowUpDeps,
  child: RunRecord,
  writes: readonly Write[] = [],
): Promise<boolean> {
  const step = child.parentRunId === undefined ? undefined : await steps.waitingForChild(child.id)
  if (step === undefined) return false
  const { result, status, usage } = child
  const endedAt = clock.now()
  const events = (parent: RunRecord) => [childEvent(parent, 'run.child.ended', { child, at: endedAt })]
  const change: StepChange =
    status === 'completed'
      ? { status, result, usage, endedAt }
      : { status: 'failed', error: errorOfCall(step.name, child), usage, endedAt }
  return (await resolveWait(step, { writes, change, events })) === 'resolved'
}

/** If an ancestor's budget ended the child, the parent's call fails with the same error, which also ends the parent. */
function errorOfCall(name: string, { id, status, error }: RunRecord): RunError {
  const { code, message, budgetOf } = error ?? {}
  if (code !== undefined && message !== undefined && budgetOf !== undefined && budgetOf !== id) {
    return { code, message, budgetOf }
  }
  return { code: 'step-failed', message: `the agent ${name} ${status}${message === undefined ? '' : `: ${message}`}` }
}

async function abortChildren({ runs, abortRun }: FollowUpDeps, parent: Pick<RunRecord, 'id'>): Promise<void> {
  const filter = { parentRunId: parent.id, statuses: ACTIVE_RUN_STATUSES } as const
  for await (const child of eachRun(runs, filter, { content: [] })) {
    if (isBackground(child)) continue
    await abortIfActive(abortRun, { runId: child.id, reason: 'the parent run has ended', visibility: EVERY_ROW })
  }
}

async function expireApprovals(deps: FollowUpDeps, run: RunRecord): Promise<void> {
  for await (const approval of pendingApprovals(deps, { runId: run.id })) await closeApproval(deps, approval)
}

/** Yields the approvals page by page, because each may hold a large payload. */
const pendingApprovals = ({ approvals }: FollowUpDeps, filter: { readonly runId?: string }) =>
  eachItem((cursor) =>
    approvals.list({ ...filter, status: 'pending' }, { limit: 200, order: 'asc', cursor }, EVERY_ROW),
  )
