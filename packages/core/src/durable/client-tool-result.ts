import { type EpochMs, type JsonText, type NewEvent, type RunRecord, type StepRecord, toJsonText } from '@perdure/ports'
import { runEvent, type Via } from '../runs/run-events.ts'
import { clientToolCallId } from '../runs/tool-call-wait.ts'
import type { ToolResult } from './tool.ts'

/** The outcome of a call that the client has not answered in time. */
export const TIMED_OUT: ToolResult = {
  ok: false,
  error: { kind: 'timeout', message: 'the client sent no result in time' },
}

/** The result of a call of a client tool, and the event that tells it. */
export interface ClientToolEnd {
  readonly result: JsonText
  readonly events: (run: RunRecord) => readonly NewEvent[]
}

export function clientToolEnd(
  step: StepRecord,
  { outcome, via, at }: { readonly outcome: ToolResult; readonly via?: Via | undefined; readonly at: EpochMs },
): ClientToolEnd {
  const toolCallId = clientToolCallId(step)
  const told = outcome.ok ? { result: outcome.value } : { error: outcome.error }
  const payload = toJsonText({ toolCallId, ...told, via })
  return {
    result: toJsonText(outcome),
    events: (run) => [runEvent(run, { type: 'tool.result', payload, at })],
  }
}
