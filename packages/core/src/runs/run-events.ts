import type { EpochMs, NewEvent, RunRecord } from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'
import { jsonObject } from '../json/json-members.ts'

export type LifecycleEventType =
  | 'run.queued'
  | 'run.started'
  | 'run.suspended'
  | 'run.resumed'
  | 'run.completed'
  | 'run.failed'
  | 'run.aborted'

/** The subject with all events of one run. */
export const runSubject = ({ kind, targetId, id }: RunRecord): string =>
  kind === 'agent'
    ? formatSubject('agentRun', { agentId: targetId, runId: id })
    : formatSubject('workflowRun', { workflowId: targetId, runId: id })

const topicOf = ({ kind, targetId }: RunRecord): string =>
  kind === 'agent' ? formatSubject('agent', { agentId: targetId }) : formatSubject('workflow', { workflowId: targetId })

/** The event of a transition; `run` is the record after the transition. */
export function lifecycleEvent(
  run: RunRecord,
  type: LifecycleEventType,
  detail: {
    readonly at: EpochMs
    readonly position?: number
    readonly reason?: string
    readonly waitingFor?: readonly object[]
  },
): NewEvent {
  const { at, position, reason, waitingFor } = detail
  const fields = { runId: run.id, status: run.status, attempt: run.attempt, position, reason, waitingFor }
  const isEnd = type === 'run.completed' || type === 'run.failed' || type === 'run.aborted'
  return {
    runId: run.id,
    sessionId: run.sessionId,
    topic: topicOf(run),
    type,
    payload: jsonObject(
      isEnd ? { ...fields, finishReason: run.finishReason, error: run.error, usage: run.usage } : fields,
      {
        result: run.result,
      },
    ),
    at,
  }
}

/** An event of a run, also visible in its session. */
export const runEvent = (run: RunRecord, event: Pick<NewEvent, 'type' | 'payload' | 'phase' | 'at'>): NewEvent => ({
  runId: run.id,
  sessionId: run.sessionId,
  ...event,
})
