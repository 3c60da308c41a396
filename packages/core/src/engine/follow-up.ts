import {
  AppError,
  type ApprovalStore,
  type Clock,
  EVERY_ROW,
  type ListedRun,
  type RunError,
  type RunRecord,
  type RunStore,
  type StepStore,
  type UnitOfWork,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES, isTerminal } from '@perdure/protocol'
import { closeApproval } from '../approvals/expire-approval.ts'
import { eachItem } from '../collections/each-item.ts'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import type { ResolveWait } from '../durable/resolve-wait.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { eachRun } from '../runs/each-run.ts'
import type { OutcomeInfo } from '../runs/run-waiters.ts'

export interface FollowUpDeps {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly resolveWait: ResolveWait
  readonly abortRun: AbortRun
}

/** Applies the end of a run to other records: wakes its parent, aborts its children, expires its open approvals. */
export type FollowUp = (run: RunRecord, info?: OutcomeInfo) => Promise<void>

export function createFollowUp(deps: FollowUpDeps & RetryDeps): FollowUp {
  return async (run, { madeNoCalls = false } = {}) => {
    if (!isTerminal(run.status)) return
    const ofParent = run.parentRunId === undefined ? [] : [wakeParent]
    const ofOthers = madeNoCalls ? [] : [abortChildren, expireApprovals]
    // Each part is idempotent, so it can be retried.
    await Promise.all([...ofParent, ...ofOthers].map((part) => retryTransient(deps, () => part(deps, run))))
  }
}

/** Applies the follow-ups that a crash prevented. Called when the server starts, before any run executes. */
export async function reconcileRuns(deps: FollowUpDeps): Promise<void> {
  for await (const run of eachRun(deps.runs, { statuses: ['queued', 'suspended'] }, { content: [] })) {
    await followParent(deps, run)
    await followChildren(deps, run)
  }
  for await (const approval of pendingApprovals(deps, {})) {
    const run = await deps.runs.find(approval.runId, EVERY_ROW)
    if (run === undefined || isTerminal(run.status)) await closeApproval(deps, approval)
  }
}

async function followParent(deps: FollowUpDeps, { parentRunId }: ListedRun<never>): Promise<void> {
  const parent = parentRunId === undefined ? undefined : await deps.runs.find(parentRunId, EVERY_ROW)
  if (parent !== undefined && isTerminal(parent.status)) await abortChildren(deps, parent)
}

async function followChildren(deps: FollowUpDeps, run: Pick<RunRecord, 'id'>): Promise<void> {
  for (const { status, childRunId } of await deps.steps.list(run.id, { results: false })) {
    if (status !== 'waiting' || childRunId === undefined) continue
    const child = await deps.runs.find(childRunId, EVERY_ROW)
    if (child !== undefined) await wakeParent(deps, child)
  }
}

async function wakeParent({ steps, resolveWait, clock }: FollowUpDeps, child: RunRecord): Promise<void> {
  if (child.parentRunId === undefined || !isTerminal(child.status)) return
  const step = await steps.waitingForChild(child.id)
  if (step === undefined) return
  const { result, status, usage } = child
  const endedAt = clock.now()
  if (status === 'completed') {
    await resolveWait(step, { change: { status, result, usage, endedAt } })
    return
  }
  await resolveWait(step, { change: { status: 'failed', error: errorOfCall(step.name, child), usage, endedAt } })
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
  for await (const { id } of eachRun(runs, filter, { content: [] })) {
    try {
      await abortRun({ runId: id, reason: 'the parent run has ended', visibility: EVERY_ROW })
    } catch (error) {
      if (!(error instanceof AppError) || error.id !== 'run-not-active') throw error
    }
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
