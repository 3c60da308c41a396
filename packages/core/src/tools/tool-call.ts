import { AppError, toJsonText } from '@berth/ports'
import { TOOL_FAILURES, type ToolFailureKind } from '@berth/protocol'
import { toRunError } from '../runs/run-error.ts'
import { runEvent } from '../runs/run-events.ts'
import type { CallScope } from '../steps/call-scope.ts'
import type { StepTry } from '../steps/step.ts'
import { callStep } from '../steps/step-call.ts'
import { withTimeout } from '../steps/step-retry.ts'
import { callApproval } from '../steps/wait-call.ts'
import type { ToolCall, ToolOutcome } from './tool.ts'

/** `ctx.tool`: asks when it has to, runs the tool once, and answers its failure as data. */
export async function callTool<T>(scope: CallScope, call: ToolCall<T>): Promise<ToolOutcome<T>> {
  const { name, args, approval } = call
  if (approval !== undefined && approval !== false) {
    const options = approval === true ? {} : approval
    const ask = {
      ...options,
      payload: options.payload ?? { toolName: name, args },
      toolCallId: `${scope.run.id}.${scope.ledger.lastSeq() + 2}`,
    }
    const decision = await callApproval(scope, name, ask)
    if (!decision.granted) {
      if (!scope.ledger.isReplaying()) scope.runMeter.toolCalled(name, 'approval_denied')
      return failed('approval_denied', decision.reason ?? 'the approval was denied')
    }
  }
  if (!scope.ledger.isReplaying()) scope.budget.reserveToolCall()
  return callStep<ToolOutcome<T>>(scope, name, { fn: (attempt) => execute(scope, call, attempt), options: {} })
}

async function execute<T>(scope: CallScope, call: ToolCall<T>, attempt: StepTry): Promise<ToolOutcome<T>> {
  const { run, clock, journal } = scope
  const { name, args, timeoutMs } = call
  const startedMs = clock.monotonicMs()
  const identity = { toolCallId: attempt.effectId, toolName: name }
  const tell = (type: string, detail: object) =>
    journal.record({
      events: [runEvent(run, { type, payload: toJsonText({ ...identity, ...detail }), at: clock.now() })],
    })

  await tell('tool.execute.start', { args })
  await scope.budget.countToolCall()
  const outcome = await withTimeout(scope, timeoutMs, async (signal) =>
    call.execute(args, { ...attempt, signal }),
  ).then(
    (value): ToolOutcome<T> => ({ ok: true, value }),
    (thrown: unknown): ToolOutcome<T> => failureOf(scope, thrown),
  )
  scope.runMeter.toolCalled(name, outcome.ok ? 'ok' : outcome.error.kind)
  const durationMs = Math.round(clock.monotonicMs() - startedMs)
  await (outcome.ok
    ? tell('tool.execute.end', { durationMs, result: outcome.value })
    : tell('tool.execute.error', { durationMs, error: outcome.error }))
  return outcome
}

const failed = (kind: ToolFailureKind, message: string) => ({ ok: false, error: { kind, message } }) as const

/** An untyped exception of a tool is `execution_failed`. */
function failureOf({ signal }: CallScope, thrown: unknown) {
  const { kind, message } = toRunError(thrown)
  if (signal.aborted) return failed('aborted', message)
  if (thrown instanceof AppError && thrown.id === 'step-failed') return failed('timeout', message)
  return failed(
    kind !== undefined && Object.hasOwn(TOOL_FAILURES, kind) ? (kind as ToolFailureKind) : 'execution_failed',
    message,
  )
}
