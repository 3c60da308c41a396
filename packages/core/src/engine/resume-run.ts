import {
  type ApprovalStore,
  type CheckJson,
  perdureError,
  type RunRecord,
  type RunStore,
  type StepStore,
  type YieldTurn,
} from '@perdure/ports'
import type { DecideApprovals, DecisionPlan, ResolvedApproval } from '../approvals/decide-approvals.ts'
import { decisionAudit, resolutionOf } from '../approvals/decision.ts'
import { type DecisionRef, matchDecisions } from '../approvals/match-decisions.ts'
import type { Principal } from '../auth/principal.ts'
import { clientToolEnd } from '../durable/client-tool-result.ts'
import { type CommitOnceDeps, reservation } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { replayReserved } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import { findRunToChange, type RunToChange } from '../runs/find-run-to-change.ts'
import { parkReasonOf } from '../runs/parked.ts'
import type { Via } from '../runs/run-events.ts'
import { awaitedReply, outcomeReply, type RunOutcome } from '../runs/run-outcome.ts'
import type { RunWaiters } from '../runs/run-waiters.ts'
import { awaitsResume } from '../runs/stored-suspension.ts'
import { waitsOf } from '../runs/waiting-for.ts'
import { storeAnswer } from './await-outcome.ts'
import { matchToolResults, type SentToolResult } from './match-tool-results.ts'
import { requeueParked } from './park-run.ts'
import type { ResumeSuspended } from './resume-suspended.ts'

export interface ResumeRunDeps extends CommitOnceDeps {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly checkJson?: CheckJson | undefined
  readonly yieldTurn: YieldTurn
  readonly runWaiters: RunWaiters
  readonly phase: PhaseHolder
  readonly decideApprovals: DecideApprovals
  readonly resumeSuspended: ResumeSuspended
  /** Executes a run that is committed as queued. */
  readonly relaunch: (run: RunRecord) => void
  readonly basePath: string
  readonly maxResultBytes: number
}

export interface ResumeRunRequest extends RunToChange {
  readonly payload?: unknown
  readonly approvals?: readonly DecisionRef[] | undefined
  /** Results of tool calls that the client has performed. */
  readonly toolResults?: readonly SentToolResult[] | undefined
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
  /** The protocol through which the request came. */
  readonly via?: Via | undefined
  /** `accepted` answers 202 once the decision is stored. Default: `outcome`, which waits for the outcome of the run. */
  readonly answer?: 'outcome' | 'accepted' | undefined
}

/**
 * Resumes a suspended run: decides the named approvals and passes the results of tool calls, all of them or none, passes a
 * payload to a run that waits for one, or tries the code of a parked run again. Answers with the outcome of the run, or with its current status when the run still waits for something
 * else.
 *
 * @throws PerdureError `run-not-found`, `run-not-suspended`, `approval-not-found`, `approval-resolved`,
 *   `approval-not-assigned`, `approval-not-editable`, `tool-call-not-found`, `tool-call-ended`, `run-not-active`, `scope-denied`, `server-draining`
 */
export type ResumeRun = (request: ResumeRunRequest) => Promise<Reply>

export function createResumeRun(deps: ResumeRunDeps): ResumeRun {
  const { phase, runWaiters } = deps

  return async (request) => {
    if (phase.current() !== 'ready') throw perdureError('server-draining', { retryAfter: 5_000 })
    const run = await findSuspended(deps, request)
    const waiting = new AbortController()
    const outcome = runWaiters.wait(run.id, { suspendedAt: run.suspendedAt, signal: waiting.signal })
    outcome.catch(() => undefined)
    const isDecision = (request.approvals ?? []).length + (request.toolResults ?? []).length > 0
    try {
      const reply = await (isDecision ? decide(deps, request) : resumeWithPayload(deps, run, request))
      if (reply === undefined && request.answer === 'accepted') return { status: 202, runId: run.id }
      return reply ?? (await answerWith(deps, request, await outcome))
    } finally {
      waiting.abort()
    }
  }
}

/** The run may still wait for children when the server stops: the answer is then stored under the key. */
async function answerWith(deps: ResumeRunDeps, { key }: ResumeRunRequest, outcome: RunOutcome): Promise<Reply> {
  const reply = awaitedReply(outcome, deps.basePath)
  if (outcome.isInterim === true && key !== undefined) await storeAnswer(deps, outcome.run, reply)
  return reply
}

async function findSuspended(deps: ResumeRunDeps, request: ResumeRunRequest): Promise<RunRecord> {
  const { approvals = [], toolResults = [], payload, via, answer, ...asked } = request
  const run = await findRunToChange(deps, asked)
  // Other code of the run can be executing while a call waits for its result.
  if (toolResults.length > 0 && approvals.length === 0) return run
  if (run.status !== 'suspended') throw perdureError('run-not-suspended', { message: `the run is ${run.status}` })
  if (approvals.length > 0 || awaitsResume(run)) return run
  if (parkReasonOf(run) !== undefined) return parkedRun(run, payload)
  throw perdureError('run-not-suspended', {
    message: 'the run waits for an event, a timer or an approval, not for a payload',
    hint: 'decide its approvals, send the tool results or emit the event it waits for',
  })
}

function parkedRun(run: RunRecord, payload: unknown): RunRecord {
  if (payload === undefined || payload === null) return run
  throw perdureError('run-not-suspended', {
    message: 'the run waits for code, not for a payload',
    hint: 'resume it without a payload to try its code again',
  })
}

/**
 * Decides the approvals and passes the tool results. Returns `undefined` when the run continues: the outcome of the run then becomes the answer and
 * is stored under the key.
 */
async function decide(deps: ResumeRunDeps, request: ResumeRunRequest): Promise<Reply | undefined> {
  let goesOn = false
  const once = await deps.decideApprovals({
    runId: request.runId,
    key: request.key,
    prepare: async () => {
      const deciding = await prepare(deps, request)
      return {
        ...deciding,
        answer(resumed) {
          goesOn = resumed !== undefined || (deciding.waits ?? []).length > 0
          return goesOn ? { reply: { status: 200 }, remember: false, runId: request.runId } : deciding.answer(resumed)
        },
      }
    },
  })
  if (once.kind === 'replayed') return once.reply
  return goesOn ? undefined : once.decision.reply
}

async function prepare(deps: ResumeRunDeps, request: ResumeRunRequest): Promise<DecisionPlan> {
  const { clock, basePath, checkJson } = deps
  const { principal, payload, via, approvals = [], toolResults = [] } = request
  const run = await findSuspended(deps, request)
  const matched = await matchDecisions(deps, { run, principal }, approvals)
  const at = clock.now()
  const resolved: ResolvedApproval[] = []
  for (const { approval, decision } of matched) {
    const resolution = await resolutionOf(approval, decision, { decider: principal, at, checkJson })
    if (resolution !== undefined) resolved.push({ approval, resolution })
  }
  const results = await matchToolResults(deps, run, toolResults)
  const ids = new Set(resolved.map(({ approval }) => approval.id))
  const waitingFor = (run.status === 'suspended' ? await waitsOf(deps, run) : []).filter(
    ({ approvalId }) => approvalId === undefined || !ids.has(approvalId),
  )
  return {
    run,
    resolved,
    payload,
    via,
    waits: results,
    events: results.flatMap(({ step, outcome }) => clientToolEnd(step, { outcome, via, at }).events(run)),
    writes: resolved.map((one) => decisionAudit(one, principal, via)),
    answer: () => ({
      reply: outcomeReply(run, basePath, run.status === 'suspended' ? { waitingFor } : {}),
      remember: true,
    }),
  }
}

/** Resumes the run. Returns the answer of an earlier request with this key, or `undefined` when the run continues. */
async function resumeWithPayload(
  deps: ResumeRunDeps,
  run: RunRecord,
  { payload, via, key }: ResumeRunRequest,
): Promise<Reply | undefined> {
  const reply: Reply = { status: 200 }
  const writes = reservation(deps, key, { reply, remember: false, runId: run.id, writes: [] })
  const outcome = await (parkReasonOf(run) === undefined
    ? deps.resumeSuspended(run, { payload, via, writes })
    : requeueParked(deps, run, writes))
  if (outcome === 'resolved' || (outcome !== 'over' && outcome.committed)) return undefined
  const isKnown = outcome !== 'over' && !outcome.committed && outcome.conflict.type === 'idempotency.reserve'
  if (isKnown && key !== undefined) return replayReserved(outcome.conflict.current, key, deps)
  throw perdureError('run-not-suspended', { message: 'another request has already resumed the run' })
}
