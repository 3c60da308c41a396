import { fromJsonText, toJsonText } from '@perdure/ports'
import { runEvent } from '../runs/run-events.ts'
import { toolCallWait } from '../runs/tool-call-wait.ts'
import { checkName, instantAfter } from './call-arguments.ts'
import type { CallScope } from './call-scope.ts'
import { checkMembers, durationProblem, objectProblem, refuseProblems } from './check-options.ts'
import { takeToolCallId, toolCallIdProblem } from './check-tool-call.ts'
import type { ClientToolCall } from './client-tool.ts'
import { TIMED_OUT } from './client-tool-result.ts'
import type { ToolOutcome } from './tool.ts'
import { passBudget } from './usage/budget-gate.ts'
import type { Reservation } from './usage/run-budget.ts'
import { callWait } from './wait-call.ts'

const WHAT = 'ctx.clientTool'

/** `ctx.clientTool`: asks the client of the run to perform a tool, and returns its result or its failure as data. */
export async function callClientTool<T>(scope: CallScope, call: ClientToolCall): Promise<ToolOutcome<T>> {
  const asked = checkClientTool(scope, call)
  const { run, clock, ledger } = scope
  const { name, toolCallId, timeout } = call
  const waiting = passBudget(scope, true)
  if (waiting !== undefined) await waiting
  let counted: Reservation | undefined
  try {
    const ended = await callWait(scope, { kind: 'client-tool', name }, (seq) => {
      const id = toolCallId ?? `${run.id}.${seq}`
      const payload = toJsonText({ toolCallId: id, ...asked })
      counted = scope.budget.takeToolCall()
      return {
        detail: {
          eventName: toolCallWait(id),
          dueAt: timeout === undefined ? undefined : instantAfter(clock.now(), timeout),
        },
        writes: counted.writes,
        said: [runEvent(run, { type: 'tool.call.end', payload, at: clock.now() })],
        onRecorded: counted.confirm,
      }
    })
    const outcome = (ended.result === undefined ? TIMED_OUT : fromJsonText(ended.result)) as ToolOutcome<T>
    if (!ledger.isReplaying()) scope.runMeter.toolCalled(name, outcome.ok ? 'ok' : outcome.error.kind)
    return outcome
  } catch (error) {
    counted?.cancel()
    throw error
  }
}

/** The payload of the event that asks for the result. @throws PerdureError `validation-failed` */
function checkClientTool(scope: CallScope, call: ClientToolCall): object {
  refuseProblems(WHAT, [call === undefined ? 'its argument is missing' : objectProblem('its argument', call)])
  checkMembers(WHAT, call, ['name', 'args', 'toolCallId', 'title', 'timeout'])
  const { name, args = {}, toolCallId, title, timeout } = call
  checkName(name)
  refuseProblems(WHAT, [
    toolCallIdProblem(toolCallId),
    title === undefined || typeof title === 'string' ? undefined : 'title must be a text',
    durationProblem('timeout', timeout, { min: 1 }),
  ])
  const asked = { toolName: name, args, executor: 'client', ...(title === undefined ? {} : { title }) }
  scope.journal.check('tool.call.end', { toolCallId: toolCallId ?? scope.run.id, ...asked })
  if (toolCallId !== undefined) takeToolCallId(scope.toolCallIds, toolCallId)
  if (timeout !== undefined) scope.requireTimers()
  return asked
}
