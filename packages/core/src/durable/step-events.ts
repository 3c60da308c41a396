import { type EpochMs, type NewEvent, type RunError, type RunRecord, type StepRecord, toJsonText } from '@perdure/ports'
import { runEvent } from '../runs/run-events.ts'

export type StepEventType = 'step.start' | 'step.end' | 'step.error' | 'checkpoint.written'

/** The permanent id of the result of a call: its run and its number. */
export const checkpointIdOf = ({ runId, seq }: Pick<StepRecord, 'runId' | 'seq'>): string => `${runId}.${seq}`

export const idempotencyKeyOf = ({ runId, seq }: Pick<StepRecord, 'runId' | 'seq'>): string => `${runId}.${seq}`

/** An event of a durable call; `detail` holds the fields of its type. */
export function stepEvent(
  run: RunRecord,
  type: StepEventType,
  {
    step,
    at,
    detail,
  }: { readonly step: Pick<StepRecord, 'seq' | 'kind' | 'name'>; readonly at: EpochMs; readonly detail?: object },
): NewEvent {
  const { seq, kind, name } = step
  return runEvent(run, { type, payload: toJsonText({ runId: run.id, step: name, seq, kind, ...detail }), at })
}

interface CompletedCall extends Pick<StepRecord, 'seq' | 'kind' | 'name'> {
  /** Why the model of the call stopped. */
  readonly finishReason?: string | undefined
}

/** The events of a completed call. In a workflow, each result is a checkpoint of its thread. */
export function completionEvents(run: RunRecord, { finishReason, ...step }: CompletedCall, at: EpochMs): NewEvent[] {
  const ended = stepEvent(run, 'step.end', { step, at, detail: { finishReason } })
  if (run.kind !== 'workflow') return [ended]
  const checkpointId = checkpointIdOf({ runId: run.id, seq: step.seq })
  return [ended, stepEvent(run, 'checkpoint.written', { step, at, detail: { checkpointId, threadId: run.threadId } })]
}

interface CutOff {
  readonly step: Pick<StepRecord, 'runId' | 'seq' | 'kind' | 'name'>
  readonly error: RunError
  /** The call of the tool; missing for other work. */
  readonly toolCallId?: string | undefined
}

/** The events of work that was executing when its process died, and that must not execute again. */
export function cutOffEvents(run: RunRecord, { step, error, toolCallId }: CutOff, at: EpochMs): readonly NewEvent[] {
  const ended = stepEvent(run, 'step.error', { step, at, detail: { error, willRetry: false } })
  if (toolCallId === undefined) return [ended]
  const call = { toolCallId, toolName: step.name, idempotencyKey: idempotencyKeyOf(step) }
  const payload = toJsonText({ ...call, error: { kind: 'execution_failed', message: error.message } })
  return [runEvent(run, { type: 'tool.execute.error', payload, at }), ended]
}
