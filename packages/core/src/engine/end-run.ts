import type {
  Clock,
  EpochMs,
  EventLog,
  FinishReason,
  IdGenerator,
  JsonText,
  MessageBrief,
  NewEvent,
  RunError,
  RunRecord,
  RunUsage,
  UnitOfWork,
  Write,
} from '@perdure/ports'
import type { EndedRunStatus } from '@perdure/protocol'
import { type LifecycleEventType, lifecycleEvent, type Via } from '../runs/run-events.ts'
import { renderOutcome } from '../runs/run-outcome.ts'
import { statusesBefore } from '../runs/run-states.ts'
import type { OutcomeInfo, RunWaiters } from '../runs/run-waiters.ts'
import { briefOf, briefOfSaid } from '../sessions/message-brief.ts'
import { messageWrites } from '../sessions/message-writes.ts'

export interface EndRunDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly runWaiters: RunWaiters
  readonly basePath: string
  readonly events: EventLog
  /** Whether other processes write to the storage at the same time; false when missing. */
  readonly isStorageShared?: boolean | undefined
  /** Further writes for the commit that ends a run, such as the end of the trigger fire that started the run. */
  readonly endWrites: (ended: RunRecord, at: EpochMs) => readonly Write[]
}

/** How a run ends. */
export interface RunEnd {
  readonly status: EndedRunStatus
  readonly finishReason: FinishReason
  readonly result?: JsonText
  readonly error?: RunError
  /** The usage in the record of the run; that of the given record when missing. */
  readonly usage?: RunUsage | undefined
  /** The value that the code of the run threw. */
  readonly thrown?: unknown
  /** Why the run was aborted, as given by the caller. */
  readonly reason?: string | undefined
  /** What a list of chats shows of the answer, if its content has no text. */
  readonly brief?: MessageBrief | undefined
  /** The protocol through which the run was aborted. */
  readonly via?: Via | undefined
  /** Events of the agent that are not in the log yet. */
  readonly events?: readonly NewEvent[]
  /** Whether the run may have active children or open approvals; true when missing. */
  readonly hasDependents?: boolean
  /** Ends the run only while this is its execution. Missing when something outside the run ends it. */
  readonly execution?: number | undefined
  /** If given, ends the run only if this is its start time; `null` if it must have none. */
  readonly startAt?: EpochMs | null | undefined
  /** The run that takes this one out of the conversation: the run that has taken its message, or the run itself. */
  readonly withdrawnBy?: string | undefined
}

/** The writes that end a run, and the record of the ended run. */
export interface EndPlan {
  readonly ended: RunRecord
  /** The outcome as stored and as sent to the client. */
  readonly json: JsonText
  readonly writes: readonly Write[]
}

/**
 * Ends a run in one commit: the transition, the last events, the transcript, and the answer to the request that started
 * it. Then notifies the waiters of the run.
 *
 * @returns the ended run, or `undefined` when the run had already ended or changed; nothing is written in that case
 */
export async function endRun(deps: EndRunDeps, run: RunRecord, end: RunEnd): Promise<RunRecord | undefined> {
  const plan = planEnd(deps, run, { ...end, brief: await briefOfEnd(deps, run, end) })
  const first = await deps.unitOfWork.commit(plan.writes)
  const { hasDependents, thrown } = end
  if (first.committed) return announce(deps, plan.ended, { hasDependents, thrown, json: plan.json })
  if (first.conflict.type !== 'message.append') return undefined

  // The session was deleted while the run executed: end the run without a transcript.
  const { ended, json, writes } = planEnd(deps, { ...run, sessionId: undefined }, end)
  const second = await deps.unitOfWork.commit(writes)
  return second.committed ? announce(deps, ended, { hasDependents, thrown, json }) : undefined
}

/** The execution of a live run; `undefined` while the commit that starts it may still be under way. */
export const executionOf = ({ status, execution }: RunRecord): number | undefined =>
  status === 'running' ? execution : undefined

export function planEnd(deps: EndRunDeps, run: RunRecord, end: RunEnd): EndPlan {
  const at = deps.clock.now()
  const { status, finishReason, result, error, usage, reason, via, execution, startAt, withdrawnBy } = end
  const abortReason = status === 'aborted' ? reason : undefined
  const change = { status, finishReason, result, error, abortReason, withdrawnBy, completedAt: at }
  const ended: RunRecord = { ...run, ...change, usage: usage ?? run.usage }
  const answer = answerWrites(deps, ended, { at, brief: end.brief })
  const event = lifecycleEvent(ended, EVENT_OF[status], { at, via, ...(reason === undefined ? {} : { reason }) })
  const json = renderOutcome(ended, deps.basePath)
  return {
    ended,
    json,
    writes: [
      {
        ...{ type: 'run.transition', runId: run.id, from: statusesBefore(status), attempt: run.attempt },
        ...{ execution, startAt },
        change,
        needsFollowUp: needsFollowUp(run, end),
      },
      ...ownEvents(end),
      ...answer,
      { type: 'event.append', events: [event] },
      ...deps.endWrites(ended, at),
      {
        type: 'idempotency.complete',
        runId: run.id,
        response: { status: 200, body: json },
      },
    ],
  }
}

/** Whether the end of the run affects other records: its parent, its children or its approvals. */
export const needsFollowUp = (
  { parentRunId }: Pick<RunRecord, 'parentRunId'>,
  { hasDependents = true }: Pick<OutcomeInfo, 'hasDependents'>,
): boolean => hasDependents || parentRunId !== undefined

/** Notifies the waiters of this process that the run has ended or is suspended. */
export function announce(
  { runWaiters }: Pick<EndRunDeps, 'runWaiters'>,
  run: RunRecord,
  info?: OutcomeInfo,
): RunRecord {
  runWaiters.resolve(run, info)
  return run
}

const ownEvents = ({ events = [] }: RunEnd): readonly Write[] =>
  events.length === 0 ? [] : [{ type: 'event.append', events }]

const EVENT_OF = {
  completed: 'run.completed',
  failed: 'run.failed',
  aborted: 'run.aborted',
} as const satisfies Record<RunEnd['status'], LifecycleEventType>

/**
 * Adds the result of a run to its session as the assistant's message; the result of a child run goes only to its
 * parent. The end of any run counts as activity in its session.
 */
function answerWrites(
  { ids }: EndRunDeps,
  ended: RunRecord,
  { at, brief }: { readonly at: EpochMs; readonly brief: MessageBrief | undefined },
): readonly Write[] {
  const { id, sessionId, result, parentRunId } = ended
  if (sessionId === undefined) return []
  if (parentRunId !== undefined || result === undefined) return [{ type: 'session.touch', id: sessionId, at }]
  const messageId = ids.newId('message')
  const message = { id: messageId, sessionId, role: 'assistant', content: result, runId: id, createdAt: at } as const
  return messageWrites(ended, message, brief)
}

/** An agent may say its answer with `ctx.text` and return nothing. */
async function briefOfEnd({ events }: EndRunDeps, run: RunRecord, { result, events: more }: RunEnd) {
  if (run.sessionId === undefined || run.parentRunId !== undefined || result === undefined) return undefined
  const brief = briefOf(run, { role: 'assistant', content: result })
  return brief?.text === '' ? briefOfSaid(events, run, more) : brief
}
