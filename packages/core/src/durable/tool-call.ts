import { definedMembers, type NewEvent, toJsonText } from '@perdure/ports'
import { TOOL_FAILURES, type ToolFailureKind } from '@perdure/protocol'
import { DENIED_WITHOUT_REASON } from '../fold/fold-tools.ts'
import { isLongerThan, jsonOrUndefined } from '../json/json-members.ts'
import { isNonRetryable } from '../runs/final-failure.ts'
import { isIdentifier, toRunError } from '../runs/run-error.ts'
import { runEvent } from '../runs/run-events.ts'
import { isRefusalWith, readThrown } from '../runs/thrown-value.ts'
import type { CallScope } from './call-scope.ts'
import { checkToolCall, takeToolCallId } from './check-tool-call.ts'
import { retryPolicyOf } from './retry-policy.ts'
import type { StepContext, StepFn, StepOptions } from './step.ts'
import { callStep } from './step-call.ts'
import { withTimeout } from './step-retry.ts'
import type { ToolCall, ToolOutcome, ToolResult } from './tool.ts'
import { callToolApproval } from './wait-call.ts'

/** `ctx.tool`: asks for approval where required, calls the tool once, and returns a failure as data. */
export async function callTool<A, T>(scope: CallScope, call: ToolCall<A, T>): Promise<ToolOutcome<T>> {
  checkToolCall(call)
  const { name, args, approval, onCrash, retries, recoveries } = call
  let { toolCallId } = call
  if (toolCallId !== undefined) takeToolCallId(scope.toolCallIds, toolCallId)
  const readable = jsonOrUndefined(args)
  if (readable !== undefined && approval !== undefined && approval !== false) {
    const options = approval === true ? {} : approval
    const ask = {
      ...options,
      payload: options.payload ?? { toolName: name, args },
      ...(toolCallId === undefined ? {} : { toolCallId }),
      args,
    }
    const asked = await callToolApproval(scope, name, ask)
    const { decision } = asked
    toolCallId = asked.toolCallId
    if (!decision.approved) {
      if (!scope.ledger.isReplaying()) scope.runMeter.toolCalled(name, 'approval_denied')
      return failed('approval_denied', decision.reason ?? DENIED_WITHOUT_REASON)
    }
  }
  let ended: readonly NewEvent[] = []
  return callStep<ToolOutcome<T>>(scope, name, {
    toolCallId,
    countsAs: scope.budget.takeToolCall,
    async fn(attempt) {
      const executed = await afterCheck(scope, () => execute(scope, { ...call, toolCallId }, attempt))
      ended = executed.events
      return executed.outcome
    },
    said: () => ended,
    options: definedMembers({ onCrash, retries, recoveries }),
    lost: ({ approvalId, error }) =>
      failed(approvalId === undefined ? 'execution_failed' : 'approval_denied', error?.message ?? `${name} is lost`),
    failureOf: (outcome) => (outcome.ok ? undefined : outcome.error.kind),
  })
}

/** A durable step that calls a tool of another system, such as an MCP server; counted like `ctx.tool`. */
export async function callForeignTool<T extends ToolResult>(
  scope: CallScope,
  name: string,
  { fn, options }: { readonly fn: StepFn<T>; readonly options: StepOptions },
): Promise<T> {
  return callStep<T>(scope, name, {
    countsAs: scope.budget.takeToolCall,
    async fn(attempt) {
      const outcome = await afterCheck(scope, () => fn(attempt))
      scope.runMeter.toolCalled(name, outcome.ok ? 'ok' : outcome.error.kind)
      return outcome
    },
    options,
  })
}

function afterCheck<T>({ budget }: CallScope, call: () => T | PromiseLike<T>): T | PromiseLike<T> {
  const checking = budget.checkToolCall()
  return checking === undefined ? call() : checking.then(call)
}

interface Executed<T> {
  readonly outcome: ToolOutcome<T>
  /** Written by the commit that stores the outcome, so that a crash between the two repeats no tool. */
  readonly events: readonly NewEvent[]
}

async function execute<A, T>(scope: CallScope, call: ToolCall<A, T>, attempt: StepContext): Promise<Executed<T>> {
  const { run, clock, journal } = scope
  const { name, args } = call
  const startedMs = clock.monotonicMs()
  const { idempotencyKey } = attempt
  const identity = { toolCallId: call.toolCallId ?? idempotencyKey, toolName: name, idempotencyKey }
  const eventOf = (type: string, detail: object) =>
    runEvent(run, { type, payload: toJsonText({ ...identity, ...detail }), at: clock.now() })

  const isReadable = jsonOrUndefined(args) !== undefined
  await journal.record({ events: [eventOf('tool.execute.start', isReadable ? { args } : {})] })
  const performed = isReadable ? await perform(scope, call, attempt) : UNREADABLE
  const { outcome } = performed
  scope.runMeter.toolCalled(name, outcome.ok ? 'ok' : outcome.error.kind)
  const durationMs = Math.round(clock.monotonicMs() - startedMs)
  const end = outcome.ok
    ? eventOf('tool.execute.end', { durationMs, result: outcome.value })
    : eventOf('tool.execute.error', { durationMs, error: outcome.error })
  const willRetry = 'thrown' in performed && canRetry(scope, performed.thrown)
  // The step repeats what throws, up to its `retries`.
  if (willRetry && attempt.attempt <= retryPolicyOf(call.retries).max) {
    await journal.record({ events: [end] })
    throw performed.thrown
  }
  return { outcome, events: [end] }
}

const canRetry = ({ signal }: CallScope, thrown: unknown) => !signal.aborted && !isNonRetryable(thrown)

async function perform<A, T>(scope: CallScope, call: ToolCall<A, T>, attempt: StepContext): Promise<Performed<T>> {
  let value: T
  try {
    value = await withTimeout(scope, call.timeout, async (signal) =>
      call.execute(call.args as A, { ...attempt, signal }),
    )
  } catch (thrown) {
    return { outcome: failureOf(scope, thrown), thrown }
  }
  return { outcome: recordable(scope, value) }
}

/** Checks that the result can be recorded: it must be JSON of a bounded size. */
function recordable<T>({ maxResultBytes }: CallScope, value: T): ToolOutcome<T> {
  const outcome = { ok: true, value } as const
  const text = jsonOrUndefined(outcome)
  if (text === undefined)
    return failed('invalid_output', 'the result is not JSON, for example a BigInt or a circular reference')
  if (!isLongerThan(text, maxResultBytes)) return outcome
  return failed('invalid_output', `the result is longer than ${maxResultBytes} bytes`)
}

/** The outcome of one execution, and what the tool threw. */
type Performed<T> =
  | { readonly outcome: ToolOutcome<T> }
  | { readonly outcome: ToolOutcome<T>; readonly thrown: unknown }

const failed = (kind: ToolFailureKind, message: string) => ({ ok: false, error: { kind, message } }) as const

const UNREADABLE = {
  outcome: failed('invalid_input', 'the arguments are not JSON: they contain a BigInt or a circular reference'),
}

/** The failure for a thrown value; `execution_failed` unless the value has a failure kind. */
function failureOf({ signal, maxResultBytes }: CallScope, thrown: unknown) {
  const { message: whole } = toRunError(thrown)
  // The failure is recorded as a result, so its message is cut to fit the limit: JSON uses at most six bytes per
  // character.
  const message = whole.slice(0, Math.max(0, Math.floor((maxResultBytes - 100) / 6)))
  if (signal.aborted) return failed('aborted', message)
  if (isRefusalWith(thrown, 'step-failed')) return failed('timeout', message)
  return failed(failureKindOf(thrown), message)
}

function failureKindOf(thrown: unknown): ToolFailureKind {
  const { code, kind } = readThrown(thrown, ['code', 'kind'])
  const isKind = !isIdentifier(code) && isIdentifier(kind) && Object.hasOwn(TOOL_FAILURES, kind)
  return isKind ? (kind as ToolFailureKind) : 'execution_failed'
}
