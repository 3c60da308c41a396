import { definedMembers, type EpochMs, type NewEvent, toJsonText } from '@perdure/ports'
import { TOOL_FAILURES, type ToolFailureKind } from '@perdure/protocol'
import { DENIED_WITHOUT_REASON } from '../fold/fold-tools.ts'
import { jsonOrUndefined } from '../json/json-members.ts'
import { isNonRetryable } from '../runs/final-failure.ts'
import { isIdentifier, toRunError } from '../runs/run-error.ts'
import { runEvent } from '../runs/run-events.ts'
import { isRefusalWith, readThrown } from '../runs/thrown-value.ts'
import type { ApprovalDecision } from './approvals/approval-options.ts'
import type { CallScope } from './call-scope.ts'
import { checkToolCall, takeToolCallId } from './check-tool-call.ts'
import type { ShownResultFile } from './result-files.ts'
import { retryPolicyOf } from './retry-policy.ts'
import type { StepContext, StepFn, StepOptions } from './step.ts'
import { callStep } from './step-call.ts'
import { withTimeout } from './step-retry.ts'
import type { ToolApproval, ToolCall, ToolContext, ToolOutcome, ToolResult } from './tool.ts'
import { callToolApproval } from './wait-call.ts'

/** `ctx.tool`: asks for approval where required, calls the tool once, and returns a failure as data. */
export async function callTool<A, T>(scope: CallScope, call: ToolCall<A, T>): Promise<ToolOutcome<T>> {
  checkToolCall(call)
  const { name, args, approval, onCrash, retries, recoveries } = call
  let { toolCallId } = call
  let given: Given<A> = { args }
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
    given = givenBy(decision, { args, at: asked.at })
  }
  let report: Report = () => []
  const outcome = await callStep<ToolOutcome<T>>(scope, name, {
    toolCallId,
    shown: { toolName: name, args: given.args },
    countsAs: scope.budget.takeToolCall,
    async fn(attempt) {
      const executed = await afterCheck(scope, () => execute(scope, { ...call, ...given, toolCallId }, attempt))
      report = executed.report
      return executed.outcome
    },
    said: (_, file) => report(file),
    unrecordable(error) {
      const outcome = failed('invalid_output', toRunError(error).message)
      const tell = report
      report = () => tell(undefined, outcome)
      return outcome
    },
    options: definedMembers({ onCrash, retries, recoveries }),
    lost: ({ error }) => failed('execution_failed', error?.message ?? `${name} is lost`),
    failureOf: (outcome) => (outcome.ok ? undefined : outcome.error.kind),
  })
  return given.decided?.edited === true ? { ...outcome, editedArgs: given.args } : outcome
}

/** What the tool executes with. */
interface Given<A> {
  readonly args?: A | undefined
  readonly decided?: ToolApproval
}

/** The decider has sent the arguments as JSON, so they have the type that the tool declares only if it checks them. */
function givenBy<A>(
  { args: edited, by }: ApprovalDecision,
  { args, at }: { readonly args: A | undefined; readonly at: EpochMs },
): Given<A> {
  const decided = { at: new Date(at), edited: edited !== undefined, ...(by === undefined ? {} : { by }) }
  return { args: edited === undefined ? args : (edited as A), decided }
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

/**
 * Returns the event of the end, which the commit of the outcome writes, so that a crash between the two repeats no tool.
 *
 * @param file the file that has the result, if it is too long for the record of the call
 * @param instead the outcome, if that of the tool cannot be recorded
 */
type Report = (file?: ShownResultFile, instead?: ToolFailure) => readonly NewEvent[]

interface Executed<T> {
  readonly outcome: ToolOutcome<T>
  readonly report: Report
}

async function execute<A, T>(
  scope: CallScope,
  { decided, ...call }: ToolCall<A, T> & Given<A>,
  attempt: StepContext,
): Promise<Executed<T>> {
  const { run, clock, journal, runMeter } = scope
  const { name, args } = call
  const startedMs = clock.monotonicMs()
  const { idempotencyKey } = attempt
  const identity = { toolCallId: call.toolCallId ?? idempotencyKey, toolName: name, idempotencyKey }
  const eventOf = (type: string, detail: object) =>
    runEvent(run, { type, payload: toJsonText({ ...identity, ...detail }), at: clock.now() })

  const isReadable = jsonOrUndefined(args) !== undefined
  await journal.record({ events: [eventOf('tool.execute.start', isReadable ? { args } : {})] })
  const performed = isReadable
    ? await perform(scope, call, { ...attempt, ...(decided === undefined ? {} : { approval: decided }) })
    : UNREADABLE
  const durationMs = Math.round(clock.monotonicMs() - startedMs)
  const report: Report = (file, instead) => {
    const outcome = instead ?? performed.outcome
    runMeter.toolCalled(name, outcome.ok ? 'ok' : outcome.error.kind)
    if (!outcome.ok) return [eventOf('tool.execute.error', { durationMs, error: outcome.error })]
    const shown = file === undefined ? { result: outcome.value } : { result: { file }, isResultInFile: true }
    return [eventOf('tool.execute.end', { durationMs, ...shown })]
  }
  const willRetry = 'thrown' in performed && canRetry(scope, performed.thrown)
  // The step repeats what throws, up to its `retries`.
  if (willRetry && attempt.attempt <= retryPolicyOf(call.retries).max) {
    await journal.record({ events: report() })
    throw performed.thrown
  }
  return { outcome: performed.outcome, report }
}

const canRetry = ({ signal }: CallScope, thrown: unknown) => !signal.aborted && !isNonRetryable(thrown)

async function perform<A, T>(scope: CallScope, call: ToolCall<A, T>, attempt: ToolContext): Promise<Performed<T>> {
  let value: T
  try {
    value = await withTimeout(scope, call.timeout, async (signal) =>
      call.execute(call.args as A, { ...attempt, signal }),
    )
  } catch (thrown) {
    return { outcome: failureOf(scope, thrown), thrown }
  }
  return { outcome: recordable(value) }
}

/** Checks that the result is JSON. */
function recordable<T>(value: T): ToolOutcome<T> {
  const outcome = { ok: true, value } as const
  if (jsonOrUndefined(outcome) !== undefined) return outcome
  return failed('invalid_output', 'the result is not JSON, for example a BigInt or a circular reference')
}

/** The outcome of one execution, and what the tool threw. */
type Performed<T> =
  | { readonly outcome: ToolOutcome<T> }
  | { readonly outcome: ToolOutcome<T>; readonly thrown: unknown }

type ToolFailure = Extract<ToolOutcome<unknown>, { readonly ok: false }>

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
