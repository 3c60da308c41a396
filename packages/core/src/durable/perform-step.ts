import {
  type JsonText,
  type NewEvent,
  perdureError,
  type Span,
  type StepChange,
  type StepRecord,
  type StepStatus,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { toMilliseconds } from '@perdure/protocol'
import { isLongerThan } from '../json/json-members.ts'
import { ProviderError } from '../providers/provider-error.ts'
import { answerAttributes } from '../tracing/model-span.ts'
import type { CallScope } from './call-scope.ts'
import type { Entry } from './journal.ts'
import type { ModelAnswer } from './model-call.ts'
import type { StepFn, StepOptions } from './step.ts'
import { completionEvents } from './step-events.ts'
import { withLimits } from './step-retry.ts'
import { checkUsage, type UsageReport } from './usage-report.ts'

export type StepRef = Pick<StepRecord, 'runId' | 'seq' | 'name'>

/** One execution of the code of a step. */
export interface Try<T> {
  readonly fn: StepFn<T>
  readonly options: StepOptions
  readonly failureOf?: ((result: T) => string | undefined) | undefined
  readonly attempt: number
  readonly span: Span
  /** Events that the commit of the result stores before the end of the step. */
  readonly said?: ((step: StepRef) => readonly NewEvent[]) | undefined
}

/** Calls the code once and records its result. @throws what the code throws */
export async function performStep<T>(
  scope: CallScope,
  step: StepRecord,
  { fn, options, failureOf, attempt, span, said }: Try<T>,
): Promise<JsonText | undefined> {
  const idempotencyKey = idempotencyKeyOf(step)
  const traceparent = span.traceparent ?? scope.run.traceparent
  const model = observeModel(scope, options)
  const limits = { timeoutMs: toMilliseconds(options.timeout), stall: stallOf(scope, options) }
  try {
    const value = await withLimits(scope, limits, (signal, progress) => {
      const call = { idempotencyKey, attempt, signal, traceparent, progress, modelAnswered: model.answered }
      return scope.nesting.within(step, () => span.within(() => fn(call)))
    })
    const failure = failureOf?.(value)
    if (failure !== undefined) span.end({ error: failure })
    const result = resultText(scope, value)
    const report = model.takeCharge()
    const charged = report === undefined ? undefined : scope.budget.charge(report)
    await scope.journal.record(
      together([{ events: said?.(step) ?? [] }, charged ?? {}, completion(scope, step, result, model.finishReason())]),
    )
    await charged?.recorded()
    model.end(span)
    return result
  } catch (thrown) {
    // An answer that cannot be recorded has been paid for, too. The error of the step matters more than one of the charge.
    const unpaid = model.takeCharge()
    if (unpaid !== undefined) await scope.budget.add(unpaid).catch(() => undefined)
    model.failed(thrown)
    throw thrown
  }
}

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

export const idempotencyKeyOf = ({ runId, seq }: Pick<StepRecord, 'runId' | 'seq'>): string => `${runId}.${seq}`

/** The entry that records the result. */
export function completion(
  { run, clock }: CallScope,
  step: StepRef,
  result: JsonText | undefined,
  finishReason?: string,
): Entry {
  const at = clock.now()
  return {
    writes: [change(step, 'started', { status: 'completed', result, endedAt: at })],
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

export function resultText({ maxResultBytes }: CallScope, value: unknown): JsonText | undefined {
  if (value === undefined) return undefined
  const text = toJsonText(value)
  if (!isLongerThan(text, maxResultBytes)) return text
  throw perdureError('validation-failed', { message: `the result is longer than ${maxResultBytes} bytes` })
}
