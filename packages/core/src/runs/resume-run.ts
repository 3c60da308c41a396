import {
  AppError,
  type ApprovalRecord,
  type ApprovalStore,
  EVERY_ROW,
  type RunRecord,
  type RunStore,
  type UnitOfWork,
  type Visibility,
} from '@berth/ports'
import type { Decision, ResolveApproval } from '../approvals/resolve-approval.ts'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce, reservation } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { answerAgain } from '../idempotency/recall.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { Reply } from '../reply.ts'
import type { ReadRuns } from './read-runs.ts'
import type { ResumeSuspended } from './resume-suspended.ts'
import { settledReply } from './run-outcome.ts'
import type { Settlements } from './settlements.ts'
import { awaitsResume } from './suspension.ts'

export interface ResumeRunDeps extends CommitOnceDeps {
  readonly runs: RunStore
  readonly approvals: ApprovalStore
  readonly unitOfWork: UnitOfWork
  readonly settlements: Settlements
  readonly phase: PhaseHolder
  readonly resolveApproval: ResolveApproval
  readonly resumeSuspended: ResumeSuspended
  readonly readRuns: ReadRuns
  readonly basePath: string
}

export interface ResumeDecision extends Decision {
  readonly id?: string | undefined
  readonly toolCallId?: string | undefined
}

export interface ResumeRunRequest {
  readonly runId: string
  readonly payload?: unknown
  readonly approvals?: readonly ResumeDecision[] | undefined
  readonly principal: Principal
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

/**
 * Lets a suspended run go on: decides the named approvals, or resumes a plain pause with a payload. Answers what the
 * run comes to, or where it stands when it still waits for something else.
 *
 * @throws AppError `run-not-found`, `run-not-suspended`, `approval-not-found`, `approval-resolved`, `server-draining`
 */
export type ResumeRun = (request: ResumeRunRequest) => Promise<Reply>

export function createResumeRun(deps: ResumeRunDeps): ResumeRun {
  const { runs, phase, settlements, readRuns, basePath } = deps

  return async (request) => {
    if (phase.current() !== 'ready') throw new AppError('server-draining', { retryAfterMs: 5_000 })
    const run = await findSuspended(runs, request)
    const decisions = await matchDecisions(deps, run, request.approvals ?? [])
    const settled = settlements.wait(run.id)
    settled.catch(() => undefined)

    if (decisions.length === 0) {
      const replayed = await resumeWithPayload(deps, run, request)
      return replayed ?? settledReply(await settled, basePath)
    }
    for (const { approval, decision } of decisions) await resolve(deps, request, { approval, decision })
    const now = await runs.find(run.id, EVERY_ROW)
    const stillWaits = now?.status === 'suspended'
    const reply = stillWaits ? await readRuns.outcome(run.id, EVERY_ROW) : settledReply(await settled, basePath)
    const once = await commitOnce(deps, request.key, async () => ({ writes: [], reply, remember: true }))
    return once.kind === 'replayed' ? once.reply : reply
  }
}

async function findSuspended(
  runs: RunStore,
  { runId, visibility, approvals = [] }: ResumeRunRequest,
): Promise<RunRecord> {
  const run = await runs.find(runId, visibility)
  if (run === undefined) throw new AppError('run-not-found')
  if (run.status !== 'suspended') throw new AppError('run-not-suspended', { message: `the run is ${run.status}` })
  if (approvals.length > 0 || awaitsResume(run)) return run
  throw new AppError('run-not-suspended', {
    message: 'the run waits for an event, a timer or an approval, not for a payload',
    hint: 'decide its approvals, or emit the event it waits for',
  })
}

interface Matched {
  readonly approval: ApprovalRecord
  readonly decision: ResumeDecision
}

async function matchDecisions(
  { approvals }: ResumeRunDeps,
  run: RunRecord,
  decisions: readonly ResumeDecision[],
): Promise<readonly Matched[]> {
  if (decisions.length === 0) return []
  const { items } = await approvals.list({ runId: run.id }, { limit: 200, order: 'desc' }, EVERY_ROW)
  const matched = decisions.map((decision) => {
    const { id, toolCallId } = decision
    if ((id === undefined) === (toolCallId === undefined)) {
      throw new AppError('validation-failed', { message: 'approvals: each needs either id or toolCallId' })
    }
    const approval = items.find((item) => (id === undefined ? item.toolCallId === toolCallId : item.id === id))
    if (approval === undefined) throw new AppError('approval-not-found')
    return { approval, decision }
  })
  const ids = new Set(matched.map(({ approval }) => approval.id))
  if (ids.size < matched.length) throw new AppError('validation-failed', { message: 'approvals: one is decided twice' })
  return matched
}

const resolve = (
  { resolveApproval }: ResumeRunDeps,
  { principal, payload }: ResumeRunRequest,
  { approval, decision }: Matched,
) =>
  resolveApproval({
    approvalId: approval.id,
    granted: decision.granted,
    reason: decision.reason,
    payload: decision.payload,
    resumePayload: payload,
    by: principal.subject,
    tokenId: principal.tokenId,
    visibility: EVERY_ROW,
  })

/** The answer of an earlier request with this key; `undefined` when the run goes on. */
async function resumeWithPayload(
  deps: ResumeRunDeps,
  run: RunRecord,
  { payload, key }: ResumeRunRequest,
): Promise<Reply | undefined> {
  const reply: Reply = { status: 200 }
  const writes = reservation(deps, key, { reply, remember: false, runId: run.id, writes: [] })
  const outcome = await deps.resumeSuspended.withPayload(run, payload, { writes, events: [] })
  if (outcome === 'settled') return undefined
  if (
    outcome !== 'over' &&
    !outcome.committed &&
    outcome.conflict.type === 'idempotency.reserve' &&
    key !== undefined
  ) {
    return answerAgain(outcome.conflict.current, key, deps)
  }
  throw new AppError('run-not-suspended', { message: 'the run was resumed in the meantime' })
}
