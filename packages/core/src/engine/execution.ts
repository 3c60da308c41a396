import {
  type ApprovalStore,
  type CheckJson,
  type Digest,
  type EventLog,
  fromJsonText,
  type Logger,
  type Nesting,
  noSpan,
  type RunRecord,
  type Span,
  type StepStore,
  type Timers,
  type YieldTurn,
} from '@perdure/ports'
import { retryTransient } from '../concurrency/retry-transient.ts'
import { checkEditableSchema } from '../durable/approvals/check-approval-options.ts'
import type { CallScope } from '../durable/call-scope.ts'
import { divergenceError } from '../durable/divergence.ts'
import { createJournal, type Journal, type JournalDeps } from '../durable/journal.ts'
import { createLedger, type Ledger } from '../durable/ledger.ts'
import { readRecordedCalls } from '../durable/recorded-calls.ts'
import { withResult } from '../durable/recorded-result.ts'
import type { RequireTimers } from '../durable/require-timers.ts'
import type { ResultFiles } from '../durable/result-files.ts'
import { isSuspension, type Suspension } from '../durable/suspension.ts'
import { type Budget, type BudgetDeps, createBudget } from '../durable/usage/run-budget.ts'
import type { Membership, UsageAccounts } from '../durable/usage/usage-accounts.ts'
import type { Divergence } from '../runs/parked.ts'
import { toRunFailure } from '../runs/run-error.ts'
import { readSuspension } from '../runs/stored-suspension.ts'
import { isRefusalWith } from '../runs/thrown-value.ts'
import { checkOutput } from '../targets/check-output.ts'
import type { CreateRunServices } from '../targets/run-services.ts'
import type { RunTarget } from '../targets/run-target.ts'
import { checkedResult } from './checked-result.ts'
import { type ContextParts, createRunContext } from './create-run-context.ts'
import { createShow } from './create-show.ts'
import { emitAll, isGenerator } from './emit-all.ts'
import type { EndRunDeps, RunEnd } from './end-run.ts'
import { countLogLines, createLogCapture } from './log-capture.ts'
import { openingOf } from './park-run.ts'
import { readResume } from './read-resume.ts'
import { logOpenCalls } from './run-log.ts'
import { planOwnSuspension, planSuspension, type SuspendPlan } from './suspend-run.ts'
import { waitsAt } from './waits-at.ts'

export interface ExecutionDeps extends EndRunDeps, JournalDeps, BudgetDeps {
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly timers: Timers
  readonly yieldTurn: YieldTurn
  readonly digest: Pick<Digest, 'sha256'>
  readonly nesting: Nesting
  readonly logger: Logger
  readonly maxResultBytes: number
  readonly resultFiles: ResultFiles
  readonly recordContent?: boolean | undefined
  readonly checkJson?: CheckJson | undefined
  readonly childCalls: ContextParts['childCalls']
  readonly takeMessages: ContextParts['takeMessages']
  readonly usageAccounts: UsageAccounts
  readonly services: CreateRunServices
  readonly requireTimers: RequireTimers
  readonly onDue: (dueAt: number) => void
  readonly events: EventLog
  /** Whether the lines of `ctx.log` are also events of the run. */
  readonly captureLogs: boolean
  /** Parks or fails a run whose code no longer makes the recorded calls. */
  readonly onDivergence: 'park' | 'fail'
}

/** Returns the error if the storage refused an event that the generator yielded. Nothing else reports this error. */
type Refusal = () => unknown

/**
 * The result of one execution. `suspended`: call `plan` once the journal is closed. `parked`: the code does not make the
 * recorded calls. `dropped`: the run was ended from outside, and nothing is left to do.
 */
export type Verdict =
  | { readonly kind: 'end'; readonly end: RunEnd; readonly refusal?: Refusal }
  | { readonly kind: 'suspended'; readonly plan: () => SuspendPlan }
  | { readonly kind: 'parked'; readonly reason: Divergence; readonly waits: readonly number[] }
  | { readonly kind: 'dropped' }

export interface Execution {
  readonly verdict: Promise<Verdict>
  readonly journal: Journal
  /** The recorded usage of the run and its descendants. */
  readonly used: Budget['used']
  /** Call it when the execution is over: it closes the accounts that the usage of the run counts in. */
  readonly release: () => void
  /** Whether the run may have active children or open approvals. Call it once the journal is closed. */
  hasDependents(): boolean
  /** Checks whether a wait of the run was resolved. */
  notify(): void
}

export interface ExecutionRequest {
  readonly run: RunRecord
  readonly target: RunTarget
  readonly signal: AbortSignal
  /** Whether this is the first execution of the run, so that no call is recorded yet. */
  readonly isFirst: boolean
  /** The parent span of what the code does. */
  readonly span: Span
}

/** Executes the code of a run once, from the beginning, replaying the recorded calls. */
export async function startExecution(deps: ExecutionDeps, request: ExecutionRequest): Promise<Execution> {
  const opened = deps.usageAccounts.open(request.run, request.isFirst)
  const membership = opened instanceof Promise ? await opened : opened
  try {
    return await startCode(deps, request, membership)
  } catch (error) {
    membership.release()
    throw error
  }
}

async function startCode(
  deps: ExecutionDeps,
  { run, target, signal, isFirst, span }: ExecutionRequest,
  { accounts, release }: Membership,
): Promise<Execution> {
  const { steps, timers, yieldTurn: nextTurn, logger, childCalls, services, takeMessages } = deps
  const suspension = readSuspension(run)
  const recordedCalls = isFirst ? [] : readRecordedCalls(deps, run.id)
  const [recorded, logLines] = await Promise.all([recordedCalls, isFirst ? 0 : countLogLines(deps, run)])
  const { promise: breach, reject: breakOff } = Promise.withResolvers<never>()
  const { promise: diverged, resolve: onDiverged } = Promise.withResolvers<Divergence>()
  const part = { throughSeq: suspension?.throughSeq ?? 0, passedVersions: suspension?.passedVersions }
  const ledger = createLedger({
    ...{ recorded, timers, nextTurn, onDiverged, ...part },
    readEnded: (after) => retryTransient(deps, () => steps.ended(run.id, { after, limit: 500 })),
    find: (seq) => retryTransient(deps, () => steps.find(run.id, seq)),
    readResult: (step) => withResult(deps, step),
  })
  const journal = createJournal(deps, run, openingOf(deps, run))
  const resume = suspension === undefined ? undefined : await readResume(deps, run, suspension)
  const budget = createBudget(deps, run, { journal, recorded, accounts, onExhausted: breakOff })
  const ancestors = accounts.slice(0, -1).map(({ runId }) => runId)
  const scope: CallScope = {
    ...sharedBy(deps),
    warn: (message) => logger.warn(message, { runId: run.id }),
    run,
    ancestors,
    toolCallIds: new Set(),
    journal,
    ledger,
    signal,
    budget,
    budgetRequest: { pending: undefined },
    span,
    stallTimeoutMs: target.stallTimeoutMs,
  }
  const capture = deps.captureLogs ? createLogCapture(scope, logLines) : undefined
  const context = createRunContext(scope, { logger, capture, resume, childCalls, services, takeMessages })

  const call: Call = { scope, target, context }
  const begin = () => scope.nesting.inRun(context, () => callTarget(deps, call))
  const called = () => (span === noSpan ? begin() : span.within(begin))
  const ways = budget.isSpent ? [] : [called(), blocked(deps, { run, ledger, journal, used: budget.used })]
  return {
    journal,
    used: budget.used,
    release,
    // A child or an approval is over once the code has its outcome; those from before `ctx.suspend` may still be open.
    hasDependents: () => suspension !== undefined || ledger.openCalls().length + ledger.openWaits().length > 0,
    verdict: Promise.race([
      ...ways,
      broken(breach),
      diverged.then((divergence) => divergedVerdict(deps, scope, divergence)),
    ]),
    notify: () =>
      void ledger
        .refresh()
        .catch((error: unknown) => logger.error('could not read the waits of the run', error, { runId: run.id })),
  }
}

/** Picks the dependencies that a call scope needs; copying all of them would make every scope larger. */
const sharedBy = (deps: ExecutionDeps) => {
  const { clock, timers, ids, digest, nesting, runMeter, recordContent, requireTimers, onDue } = deps
  const { maxResultBytes, resultFiles, checkJson } = deps
  return {
    ...{ clock, timers, ids, digest, nesting, runMeter, recordContent, requireTimers, onDue },
    ...{ maxResultBytes, resultFiles, checkJson },
  }
}

interface Call {
  readonly scope: CallScope
  readonly target: RunTarget
  readonly context: Parameters<RunTarget['call']>[1]
}

async function callTarget(deps: ExecutionDeps, { scope, target, context }: Call): Promise<Verdict> {
  const { run, ledger } = scope
  try {
    const started = target.call(fromJsonText(run.input), context)
    let refused: unknown
    const onRefused = (error: unknown) => {
      refused ??= error
    }
    const show = createShow(scope, context.emit)
    const returned = isGenerator(started)
      ? await emitAll(started, scope, { onRefused, text: context.text, show })
      : await started
    const result = await show.returned(returned)
    const divergence = await ledger.finish()
    if (divergence !== undefined) return divergedVerdict(deps, scope, divergence)
    if (isSuspension(result)) return await suspendItself(deps, scope, result)
    // A wait that is still open must not suspend the run while the output schema validates.
    const { output: schema } = target
    const output = schema === undefined ? result : await ledger.busy(() => checkOutput(schema, result))
    const text = checkedResult(output, deps.maxResultBytes)
    logOpenCalls(deps.logger, run, ledger.openCalls())
    const end = { status: 'completed', finishReason: 'completed', result: text } as const
    return { kind: 'end', end, refusal: () => refused }
  } catch (thrown) {
    return { kind: 'end', end: failureOf(thrown) }
  }
}

function divergedVerdict(deps: ExecutionDeps, { ledger }: CallScope, divergence: Divergence): Verdict {
  if (deps.onDivergence === 'park') return { kind: 'parked', reason: divergence, waits: ledger.openWaits() }
  return { kind: 'end', end: failureOf(divergenceError(divergence)) }
}

async function suspendItself(
  deps: ExecutionDeps,
  { run, ledger, ancestors, budget }: CallScope,
  suspension: Suspension,
): Promise<Verdict> {
  for (const asked of suspension.approvals ?? []) await ledger.busy(() => checkEditableSchema(asked, deps.checkJson))
  const plan = () => planOwnSuspension(deps, { ...run, usage: budget.used() }, { suspension, ledger, ancestors })
  return { kind: 'suspended', plan }
}

function failureOf(thrown: unknown): RunEnd {
  const isSpent = isRefusalWith(thrown, 'budget-exhausted')
  return { status: 'failed', finishReason: isSpent ? 'budget-exhausted' : 'error', error: toRunFailure(thrown), thrown }
}

/**
 * Returns how the run ends. Call it once the journal is closed: if the storage refused an event, a completed run fails
 * instead.
 */
export function endOf({ end, refusal }: Extract<Verdict, { readonly kind: 'end' }>): RunEnd {
  const refused = refusal?.()
  return refused === undefined ? end : failureOf(refused)
}

/** Ends the run even if its code catches the exception. */
const broken = (breach: Promise<never>): Promise<Verdict> =>
  breach.catch((error: unknown) => ({ kind: 'end', end: failureOf(error) }))

interface Blocking {
  readonly run: RunRecord
  readonly ledger: Ledger
  readonly journal: Journal
  readonly used: Budget['used']
}

/**
 * Suspends the run once all of its code waits, unless one of its waits was resolved in the meantime. Code left over
 * from an execution that has ended cannot suspend the run, because the run may already be executing again.
 */
async function blocked(deps: ExecutionDeps, blocking: Blocking): Promise<Verdict> {
  const { ledger, journal } = blocking
  for (;;) {
    const seqs = await ledger.whenBlocked()
    // The code may be waiting for a write and continue after it.
    const isWriting = !journal.isIdle()
    await journal.flush()
    const verdict = isWriting ? undefined : await suspend(deps, blocking, seqs)
    if (verdict !== undefined) return verdict
    await ledger.refresh()
  }
}

/** `undefined` when the run continues. */
async function suspend(
  deps: ExecutionDeps,
  { run, ledger, journal, used }: Blocking,
  seqs: readonly number[],
): Promise<Verdict | undefined> {
  const waits = await waitsAt(deps, run.id, seqs)
  if (waits.length < seqs.length) return undefined
  const plan = planSuspension(deps, { ...run, usage: used() }, { waits, events: journal.opening() })
  const outcome = await retryTransient(deps, async () => {
    if (journal.isClosed()) return 'over'
    return journal.isIdle() && ledger.isBlockedAt(seqs) ? deps.unitOfWork.commit(plan.writes) : 'going on'
  })
  if (outcome === 'going on') return undefined
  if (outcome === 'over') return { kind: 'dropped' }
  if (outcome.committed) return { kind: 'suspended', plan: () => ({ ...plan, writes: [] }) }
  return outcome.conflict.type === 'step.fence' ? undefined : { kind: 'dropped' }
}
