import { type EpochMs, type ForkOrigin, type JsonText, type NewEvent, type RunRecord, toJsonText } from '@perdure/ports'
import { type EVENTS, formatSubject } from '@perdure/protocol'
import { jsonObject } from '../json/json-members.ts'
import { shownError } from './run-error.ts'

/** The protocol through which a request came, and the id that the client gave it there. */
export interface Via {
  readonly protocol: string
  readonly ref?: string | undefined
}

type Events = typeof EVENTS

/** The events of a run's transitions. */
export type LifecycleEventType = {
  [Type in keyof Events]: Events[Type] extends { readonly lifecycle: true } ? Type : never
}[keyof Events]

/** The subject with all events of one run. */
export const runSubject = ({ kind, targetId, id }: Pick<RunRecord, 'kind' | 'targetId' | 'id'>): string =>
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
    /** Before the next attempt, of a run that is retried. */
    readonly delayMs?: number
    /** The run that this run repeats, and the last call that was copied from it. */
    readonly from?: ForkOrigin
    readonly via?: Via | undefined
    /** What a client of another protocol has sent to the run. */
    readonly payload?: JsonText | undefined
  },
): NewEvent {
  const { at, position, reason, waitingFor, from, delayMs, via } = detail
  const isEnd = type === 'run.completed' || type === 'run.failed' || type === 'run.aborted'
  const isRetry = type === 'run.retrying'
  const startsLater = isRetry || (type === 'run.queued' && (run.startAt ?? at) > at)
  // One object without spreads, because every run has several of these events.
  const fields = {
    runId: run.id,
    status: run.status,
    attempt: run.attempt,
    from,
    position,
    reason,
    via,
    waitingFor,
    delayMs,
    startAt: startsLater && run.startAt !== undefined ? new Date(run.startAt).toISOString() : undefined,
    finishReason: isEnd ? run.finishReason : undefined,
    error: (isEnd || isRetry) && run.error !== undefined ? shownError(run.error) : undefined,
    usage: isEnd ? run.usage : undefined,
  }
  return {
    runId: run.id,
    sessionId: run.sessionId,
    topic: topicOf(run),
    type,
    payload: jsonObject(fields, { result: isEnd ? run.result : undefined, payload: detail.payload }),
    at,
  }
}

/** The stream with the log lines of one run; not a subject of the API. */
export const logTopic = (runId: string): string => `run-log:${runId}`

/** An event of a run, also visible in its session. */
export const runEvent = (
  { id, sessionId }: RunRecord,
  { type, payload, phase, at }: Pick<NewEvent, 'type' | 'payload' | 'phase' | 'at'>,
): NewEvent => ({ runId: id, sessionId, type, payload, phase, at })

/** Tells in the log of a parent that its child has started or ended. */
export function childEvent(
  parent: RunRecord,
  type: 'run.child.started' | 'run.child.ended',
  { child, at }: { readonly child: RunRecord; readonly at: EpochMs },
): NewEvent {
  const { id: childRunId, targetId: agentId, parentSeq: seq, status } = child
  const ended = type === 'run.child.ended' ? status : undefined
  const payload = toJsonText({ runId: parent.id, childRunId, agentId, seq, status: ended })
  return runEvent(parent, { type, payload, at })
}
