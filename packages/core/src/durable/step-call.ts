import {
  fromJsonText,
  type JsonText,
  perdureError,
  type RefusalOptions,
  type RunError,
  type StepRecord,
  type Write,
} from '@perdure/ports'
import { markFailedCall } from '../runs/failed-call.ts'
import { isNonRetryable } from '../runs/final-failure.ts'
import { toRunError } from '../runs/run-error.ts'
import { isRefusalWith } from '../runs/thrown-value.ts'
import { failSpan, startStepSpan, type TracedAttempt } from '../tracing/step-span.ts'
import { approvalRequest } from './approvals/approval-request.ts'
import type { CallScope } from './call-scope.ts'
import { checkCall } from './check-call.ts'
import { checkStepOptions } from './check-step-options.ts'
import { change, performStep, type Said, type StepRef, type Try } from './perform-step.ts'
import { type RecordedResult, resultMembers } from './recorded-result.ts'
import { retryDelayMs, retryPolicyOf } from './retry-policy.ts'
import type { StepFn, StepOptions } from './step.ts'
import { cutOffEvents, idempotencyKeyOf, stepEvent } from './step-events.ts'
import { pauseFor } from './step-retry.ts'
import { passBudget } from './usage/budget-gate.ts'
import type { Reservation } from './usage/run-budget.ts'

/**
 * Executes a piece of work once. Its JSON result is stored; a re-execution of the run gets that result without calling
 * `fn`.
 *
 * @throws PerdureError `step-failed` when the last try fails or the work must not be repeated after a crash;
 *   `workflow-divergence` when another call is recorded under this number
 */
export const callStep = async <T>(
  scope: CallScope,
  name: string,
  { fn, failureOf, said, unrecordable, ...work }: StepCall<T>,
): Promise<T> => {
  const { options } = work
  checkStepOptions(fn, options)
  const { countsAs } = work
  const waiting = passBudget(scope, countsAs !== undefined)
  if (waiting !== undefined) await waiting
  const withdraw = countsAs === undefined ? undefined : scope.budget.announceToolCall()
  const count =
    countsAs === undefined || withdraw === undefined
      ? countsAs
      : () => {
          withdraw()
          return countsAs()
        }
  const called = callWork<T>(scope, name, {
    ...work,
    countsAs: count,
    kind: kindOf({ options, failureOf }),
    perform: (step, attempt, { span, begun }) =>
      performStep(scope, step, { fn, options, failureOf, attempt, span, begun, said, unrecordable }),
  })
  return withdraw === undefined ? called : called.finally(withdraw)
}

const kindOf = <T>({ options, failureOf }: Pick<StepCall<T>, 'options' | 'failureOf'>) =>
  failureOf !== undefined ? 'tool' : options.model === undefined ? 'step' : 'model'

export interface StepCall<T> {
  readonly fn: StepFn<T>
  /**
   * Counts the call. The commit that stores its record also stores the count, so a call is counted exactly once.
   *
   * @throws to reject the call
   */
  readonly countsAs?: (() => Reservation) | undefined
  readonly options: StepOptions
  /** Returns the failure kind that a result reports. Set only for tool calls, which are traced as tool calls. */
  readonly failureOf?: ((result: T) => string | undefined) | undefined
  /**
   * Returns the result of a call that must not be repeated after a crash; if missing, the call throws `step-failed`.
   */
  readonly lost?: ((step: StepRecord) => T) | undefined
  /** The id of a tool call; its `idempotencyKey` when missing. */
  readonly toolCallId?: string | undefined
  /** Shown to a person who decides whether the call may run again after a crash. */
  readonly shown?: unknown
  /** Events that the commit of the result stores before the end of the step. */
  readonly said?: Said | undefined
  /** The result in place of one that cannot be recorded; if missing, the call throws `step-failed`. */
  readonly unrecordable?: ((error: unknown) => T) | undefined
}

/** A durable piece of work, and how one try executes it and records the result. */
export interface Work<T = unknown> extends Pick<StepCall<T>, 'options' | 'lost' | 'countsAs' | 'toolCallId' | 'shown'> {
  /** How the work is traced; as a step when missing. */
  readonly kind?: TracedAttempt['kind']
  /** Resolves with the recorded result. @throws what the work throws; nothing is recorded then */
  readonly perform: (step: StepRecord, attempt: number, parts: TryParts) => Promise<RecordedResult>
}

type TryParts = Pick<Try<unknown>, 'span' | 'begun'>

/** @throws PerdureError as `callStep` */
export async function callWork<T>(scope: CallScope, name: string, work: Work<T>): Promise<T> {
  const { ledger, run } = scope
  checkCall(scope, name)
  const { seq, recorded } = await ledger.claim('step', name)
  if (recorded === undefined) {
    const counted = work.countsAs?.()
    const begin = [insert(scope, seq, name), ...(counted?.writes ?? [])]
    return execute<T>(scope, { seq, name, ...work, begin, counted })
  }
  if (recorded.status === 'completed' || recorded.status === 'failed') {
    const request = work.options.model?.request
    if (request !== undefined) scope.onReplayed?.(seq, request)
    return outcomeOf(await ledger.replay(recorded), work.lost)
  }
  const ready = await afterCrash(scope, recorded, work)
  if (ready.status !== 'started') return outcomeOf(ready, work.lost)
  const counted = recorded.attempt === run.attempt ? {} : { recoveries: (recorded.recoveries ?? 0) + 1 }
  const begin = [change(recorded, 'started', { attempt: run.attempt, ...counted })]
  return execute<T>(scope, { seq, name, ...work, begin })
}

/**
 * Applies `onCrash` to a step that was executing when its process died. The caller executes the step if it is returned
 * as `started`.
 */
async function afterCrash(
  scope: CallScope,
  recorded: StepRecord,
  { options: { onCrash = 'retry', recoveries }, ...asked }: Pick<Work, 'kind' | 'options' | 'toolCallId' | 'shown'>,
): Promise<StepRecord> {
  const { ledger, run } = scope
  if (recorded.status === 'waiting') return ledger.waitForRetry(recorded.seq)
  if (recorded.attempt === run.attempt) return recorded // A person has approved another execution.
  const isUsedUp = (recorded.recoveries ?? 0) >= (recoveries ?? Number.POSITIVE_INFINITY)
  if (onCrash === 'retry' && !isUsedUp) return recorded
  const toolCallId = asked.kind === 'tool' ? (asked.toolCallId ?? idempotencyKeyOf(recorded)) : undefined
  return onCrash === 'fail' || isUsedUp
    ? fail(scope, recorded, toolCallId)
    : ask(scope, recorded, { ...asked, toolCallId })
}

const CUT_OFF = 'was executing when the server stopped'

/** Whether a step failed because the server stopped during its execution. */
export const isCutOffStep = (error: { readonly code?: unknown; readonly message?: unknown }): boolean =>
  error.code === 'step-failed' && String(error.message).endsWith(CUT_OFF)

async function fail(scope: CallScope, recorded: StepRecord, toolCallId: string | undefined): Promise<StepRecord> {
  const error: RunError = { code: 'step-failed', message: `${recorded.name} ${CUT_OFF}` }
  return scope.ledger.busy(async () => {
    const at = scope.clock.now()
    await scope.journal.record({
      writes: [change(recorded, 'started', { status: 'failed', error, endedAt: at })],
      events: cutOffEvents(scope.run, { step: recorded, error, toolCallId }, at),
    })
    return scope.ledger.deliver({ ...recorded, status: 'failed', error })
  })
}

async function ask(
  scope: CallScope,
  recorded: StepRecord,
  { kind = 'step', toolCallId, shown }: Pick<Work, 'kind' | 'toolCallId' | 'shown'>,
): Promise<StepRecord> {
  const { journal, ledger } = scope
  const { approval, events } = approvalRequest(scope, {
    seq: recorded.seq,
    name: recorded.name,
    title: `Run the ${kind === 'model' ? 'step' : kind} ${recorded.name} again? It was executing when the server stopped.`,
    payload: shown,
    ...(toolCallId === undefined ? {} : { toolCallId }),
  })
  await ledger.busy(() =>
    journal.record({
      writes: [
        { type: 'approval.insert', approval },
        change(recorded, 'started', { status: 'waiting', approvalId: approval.id }),
      ],
      events,
    }),
  )
  return ledger.waitForRetry(recorded.seq)
}

interface Execution extends Work {
  readonly seq: number
  readonly name: string
  readonly begin: readonly Write[]
  readonly counted?: Reservation | undefined
}

/**
 * Whether the work may begin before its start is recorded: a crash in between calls the model once more, as any crash
 * during the call does.
 */
const mayOverlap = ({ kind, counted, options: { onCrash = 'retry', recoveries } }: Execution): boolean =>
  kind === 'model' && counted === undefined && onCrash === 'retry' && recoveries === undefined

function execute<T>(scope: CallScope, execution: Execution): Promise<T> {
  return scope.ledger.busy(async () => {
    const { run, journal, clock } = scope
    const { seq, name, begin, counted, options } = execution
    const step = { seq, name, kind: 'step' } as const
    const begun = journal.record({
      writes: begin,
      events: [stepEvent(run, 'step.start', { step, at: clock.now(), detail: { request: options.model?.request } })],
    })
    if (mayOverlap(execution)) return tryUntilSettled<T>(scope, execution, begun)
    try {
      await begun
    } catch (error) {
      counted?.cancel()
      throw error
    }
    counted?.confirm()
    return tryUntilSettled<T>(scope, execution)
  })
}

/**
 * @param begun rejects when the start cannot be recorded; missing once it is recorded
 * @throws the error of `begun`
 */
async function tryUntilSettled<T>(scope: CallScope, execution: Execution, begun?: Promise<unknown>): Promise<T> {
  const { signal, ledger } = scope
  const { name, seq, kind = 'step', options, perform } = execution
  for (let attempt = 1; ; attempt++) {
    const span = startStepSpan(scope, { kind, name, seq, attempt, model: options.model })
    try {
      const step = stepOf(scope, execution)
      const result = await perform(step, attempt, { span, begun })
      span.end()
      const ended = { ...step, ...resultMembers(result), status: 'completed', result: result.text } as const
      return outcomeOf<T>(await ledger.deliver(ended))
    } catch (thrown) {
      failSpan(span, thrown)
      await begun
      if (signal.aborted || isOver(thrown)) throw thrown
      const step = stepOf(scope, execution)
      const retry = retryPolicyOf(options.retries)
      const willRetry = attempt <= retry.max && !isNonRetryable(thrown)
      await recordFailure(scope, step, { thrown, willRetry })
      if (!willRetry) {
        await ledger.deliver({ ...step, status: 'failed' })
        throw stepFailed(step, { message: `${name}: ${toRunError(thrown).message}`, cause: thrown })
      }
      await pauseFor(scope, retryDelayMs(retry, attempt, idempotencyKeyOf(step)))
    }
  }
}

const stepOf = ({ run, clock }: CallScope, { seq, name }: Pick<Execution, 'seq' | 'name'>): StepRecord => ({
  ...{ runId: run.id, seq, kind: 'step', name, status: 'started', attempt: run.attempt },
  startedAt: clock.now(),
})

function recordFailure(
  scope: CallScope,
  step: StepRef,
  failure: { readonly thrown: unknown; readonly willRetry: boolean },
) {
  const { run, journal, clock } = scope
  const { willRetry, thrown } = failure
  const { code, message } = toRunError(thrown)
  const at = clock.now()
  const detail = { error: { code, message }, willRetry }
  const events = [stepEvent(run, 'step.error', { step: { ...step, kind: 'step' }, at, detail })]
  const error: RunError = { code: 'step-failed', message: `${step.name}: ${message}` }
  const writes = willRetry ? [] : [change(step, 'started', { status: 'failed', error, endedAt: at })]
  return journal.record({ writes, events })
}

const insert = ({ run, clock }: CallScope, seq: number, name: string): Write => ({
  type: 'step.insert',
  step: { runId: run.id, seq, kind: 'step', name, status: 'started', attempt: run.attempt, startedAt: clock.now() },
})

/** Returns the parsed JSON, so that the code gets the same value as in a re-execution. */
const fromResult = <T>(text: JsonText | undefined): T => (text === undefined ? undefined : fromJsonText(text)) as T

function outcomeOf<T>(step: StepRecord, lost?: (step: StepRecord) => T): T {
  const { status, name, result, error } = step
  if (status === 'completed') return fromResult<T>(result)
  if (lost !== undefined) return lost(step)
  throw stepFailed(step, { message: error?.message ?? `${name} failed` })
}

const stepFailed = (step: StepRef, options: RefusalOptions) =>
  markFailedCall(perdureError('step-failed', options), step)

const isOver = (thrown: unknown) => isRefusalWith(thrown, 'run-not-active')
