import type {
  Clock,
  EpochMs,
  FinishReason,
  IdGenerator,
  JsonText,
  NewEvent,
  RunError,
  RunRecord,
  RunUsage,
  UnitOfWork,
  Write,
} from '@perdure/ports'
import { type LifecycleEventType, lifecycleEvent } from '../runs/run-events.ts'
import { renderOutcome } from '../runs/run-outcome.ts'
import { statusesBefore } from '../runs/run-states.ts'
import type { OutcomeInfo, RunWaiters } from '../runs/run-waiters.ts'
import { messageWrites } from '../sessions/message-writes.ts'

export interface EndRunDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly runWaiters: RunWaiters
  readonly basePath: string
  /** What else the commit that ends a run writes, such as the end of the trigger fire that started it. */
  readonly endWrites: (ended: RunRecord, at: EpochMs) => readonly Write[]
}

/** How a run ends. */
export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'aborted'
  readonly finishReason: FinishReason
  readonly result?: JsonText
  readonly error?: RunError
  readonly usage?: RunUsage
  /** What must hold for the usage to be whole; `again` tells how the run ends when it does not. */
  readonly fence?: readonly Write[]
  readonly again?: () => Promise<RunEnd>
  /** Why it was aborted, in the caller's words. */
  readonly reason?: string | undefined
  /** Events of the agent that are not yet in the log. */
  readonly events?: readonly NewEvent[]
  /** It has made no calls: it leaves no child and no approval behind. */
  readonly madeNoCalls?: boolean
}

/** The writes that end a run, and the run as it is then. */
export interface EndPlan {
  readonly ended: RunRecord
  /** The outcome as it is answered and recorded. */
  readonly json: JsonText
  readonly writes: readonly Write[]
}

/**
 * Ends a run in one commit: the transition, the last events, the transcript, and the answer for the request that
 * started it. Then everyone who waits for the run hears of it.
 *
 * @returns the ended run, or `undefined` when another writer was faster and nothing was changed
 */
export async function endRun(deps: EndRunDeps, run: RunRecord, end: RunEnd): Promise<RunRecord | undefined> {
  const plan = planEnd(deps, run, end)
  const first = await deps.unitOfWork.commit(plan.writes)
  const { madeNoCalls } = end
  if (first.committed) return announce(deps, plan.ended, { madeNoCalls, json: plan.json })
  if (first.conflict.type === 'step.fence' && end.again !== undefined) return endRun(deps, run, await end.again())
  if (first.conflict.type !== 'message.append') return undefined

  // The session was deleted while the run executed: end it without a transcript.
  const { ended, json, writes } = planEnd(deps, { ...run, sessionId: undefined }, end)
  const second = await deps.unitOfWork.commit(writes)
  return second.committed ? announce(deps, ended, { madeNoCalls, json }) : undefined
}

export function planEnd(deps: EndRunDeps, run: RunRecord, end: RunEnd): EndPlan {
  const at = deps.clock.now()
  const { status, finishReason, result, error, usage, reason } = end
  const change = { status, finishReason, result, error, usage, completedAt: at }
  const ended: RunRecord = { ...run, ...change, usage: usage ?? run.usage }
  const answer = answerWrites(deps, ended, at)
  const event = lifecycleEvent(ended, EVENT_OF[status], { at, ...(reason === undefined ? {} : { reason }) })
  const json = renderOutcome(ended, deps.basePath)
  return {
    ended,
    json,
    writes: [
      { type: 'run.transition', runId: run.id, from: statusesBefore(status), attempt: run.attempt, change },
      ...(end.fence ?? []),
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

/** Tells whoever waits in this process that the run has ended or is suspended. */
export function announce(
  { runWaiters }: Pick<EndRunDeps, 'runWaiters'>,
  run: RunRecord,
  news?: OutcomeInfo,
): RunRecord {
  runWaiters.resolve(run, news)
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
 * The result of a run is the assistant's message of its session; what a child answers is said to its parent alone. Any
 * end is activity of the session.
 */
function answerWrites(
  { ids }: EndRunDeps,
  { id, sessionId, result, parentRunId }: RunRecord,
  at: EpochMs,
): readonly Write[] {
  if (sessionId === undefined) return []
  if (parentRunId !== undefined || result === undefined) return [{ type: 'session.touch', id: sessionId, at }]
  return messageWrites({
    id: ids.newId('message'),
    sessionId,
    role: 'assistant',
    content: result,
    runId: id,
    createdAt: at,
  })
}
