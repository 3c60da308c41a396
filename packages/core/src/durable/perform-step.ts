import type { NewEvent, Span, StepChange, StepRecord, StepStatus, Write } from '@perdure/ports'
import { toMilliseconds } from '@perdure/protocol'
import { ProviderError } from '../providers/provider-error.ts'
import { answerAttributes } from '../tracing/model-span.ts'
import type { CallScope } from './call-scope.ts'
import type { Entry } from './journal-entry.ts'
import type { ModelAnswer } from './model-call.ts'
import { isUnrecordable, type RecordedResult, recordResult, resultMembers } from './recorded-result.ts'
import type { ShownResultFile } from './result-files.ts'
import type { StepFn, StepOptions } from './step.ts'
import { completionEvents, idempotencyKeyOf } from './step-events.ts'
import { withLimits } from './step-retry.ts'
import type { Charge } from './usage/run-budget.ts'
import { checkUsage, type UsageReport } from './usage/usage-report.ts'

export type StepRef = Pick<StepRecord, 'runId' | 'seq' | 'name'>

/** One execution of the code of a step. */
export interface Try<T> {
  readonly fn: StepFn<T>
  readonly options: StepOptions
  readonly failureOf?: ((result: T) => string | undefined) | undefined
  readonly attempt: number
  readonly span: Span
  /** Rejects when the start of the step cannot be recorded; missing once it is recorded. */
  readonly begun?: Promise<unknown> | undefined
  /** Events that the commit of the result stores before the end of the step. */
  readonly said?: Said | undefined
  /** The result in place of one that cannot be recorded: it is too long, or the quota of the owner is used up. */
  readonly unrecordable?: ((error: unknown) => T) | undefined
}

/** @param file the file with the result, if it is too long for the record of the call */
export type Said = (step: StepRef, file?: ShownResultFile) => readonly NewEvent[]

/** Calls the code once and records its result. @throws what the code throws */
export async function performStep<T>(
  scope: CallScope,
  step: StepRecord,
  { fn, options, failureOf, attempt, span, begun, said, unrecordable }: Try<T>,
): Promise<RecordedResult> {
  const idempotencyKey = idempotencyKeyOf(step)
  const traceparent = span.traceparent ?? scope.run.traceparent
  const model = observeModel(scope, options)
  let charged: Charge | undefined
  const limits = { timeoutMs: toMilliseconds(options.timeout), stall: stallOf(scope, options), required: begun }
  try {
    const value = await withLimits(scope, limits, (signal, progress) => {
      const call = { idempotencyKey, attempt, signal, traceparent, progress, modelAnswered: model.answered }
      return scope.nesting.within(step, () => span.within(() => fn(call)))
    })
    const result = await recordResult(scope, step, {
      value,
      unrecordable,
      entryOf(recorded, returned) {
        const failure = failureOf?.(returned)
        if (failure !== undefined) span.end({ error: failure })
        const report = model.takeCharge()
        if (report !== undefined) charged = scope.budget.charge(report)
        return together([
          { events: said?.(step, recorded.file) ?? [] },
          charged ?? {},
          completion(scope, step, recorded, model.finishReason()),
        ])
      },
    })
    await charged?.recorded()
    model.end(span)
    return result
  } catch (thrown) {
    // An answer that cannot be recorded has been paid for, too. The error of the step matters more than one of the charge.
    const unpaid = model.takeCharge()
    if (unpaid !== undefined) await scope.budget.add(unpaid).catch(() => undefined)
    else if (charged !== undefined && isUnrecordable(thrown)) await recordCharge(scope, charged).catch(() => undefined)
    model.failed(thrown)
    throw thrown
  }
}

const recordCharge = ({ journal }: CallScope, charged: Charge) => journal.record(charged).then(charged.recorded)

function stallOf({ stallTimeoutMs }: CallScope, { stallTimeout, model }: StepOptions) {
  const afterMs = toMilliseconds(stallTimeout) ?? (model === undefined ? undefined : stallTimeoutMs)
  if (afterMs === undefined) return undefined
  const who = model === undefined ? 'the step' : 'the model'
  const error = () => new ProviderError('transient', { message: `${who} sent nothing for ${afterMs} ms` })
  return { afterMs, error }
}

/** Entries that one commit records. */
const together = (entries: readonly Entry[]): Entry => ({
  writes: entries.flatMap(({ writes = [] }) => writes),
  events: entries.flatMap(({ events = [] }) => events),
})

interface ObservedModel {
  /** What the answer costs, the first time that it is called after the answer. */
  takeCharge(): UsageReport | undefined
  /** Why the model stopped. */
  finishReason(): string | undefined
  answered(answer: ModelAnswer): void
  end(span: Span): void
  failed(thrown: unknown): void
}

const ignore = () => undefined
const NO_MODEL: ObservedModel = {
  takeCharge: ignore,
  finishReason: ignore,
  answered: ignore,
  end: ignore,
  failed: ignore,
}

/** Measures the call of a model, if the step calls one. */
function observeModel({ clock, runMeter, recordContent }: CallScope, { model: called }: StepOptions): ObservedModel {
  if (called === undefined) return NO_MODEL
  const startedMs = clock.monotonicMs()
  let answer: ModelAnswer = {}
  const seconds = () => (clock.monotonicMs() - startedMs) / 1_000
  return {
    finishReason: () => answer.finishReason,
    takeCharge() {
      const { charge, ...rest } = answer
      answer = rest
      return charge
    },
    answered(told) {
      if (told.charge !== undefined) checkUsage(told.charge)
      answer = { ...answer, ...told }
    },
    end(span) {
      runMeter.modelCalled(called, { seconds: seconds(), answer })
      span.end({ attributes: answerAttributes(called, answer, recordContent === true) })
    },
    failed: (thrown) => runMeter.modelCalled(called, { seconds: seconds(), answer, thrown }),
  }
}

/** The entry that records the result. */
export function completion(
  { run, clock }: CallScope,
  step: StepRef,
  result: RecordedResult,
  finishReason?: string,
): Entry {
  const at = clock.now()
  return {
    writes: [...result.writes, change(step, 'started', { status: 'completed', ...resultMembers(result), endedAt: at })],
    events: completionEvents(run, { ...step, kind: 'step', finishReason }, at),
  }
}

export const change = (
  { runId, seq }: Pick<StepRef, 'runId' | 'seq'>,
  from: StepStatus,
  changed: StepChange,
): Write => ({
  type: 'step.change',
  runId,
  seq,
  from,
  change: changed,
})
