import {
  BUDGET_CALL,
  fieldsOf,
  isFields,
  type LogEvent,
  type RenderEnvelope,
  type RunTargets,
  runSubject,
} from '@perdure/core'
import { type EventLog, fromJsonText, type YieldTurn } from '@perdure/ports'
import type { ChatLimits } from './chat-input.ts'
import { createErrorMask, type FailingRun } from './error-mask.ts'
import { createLogLimit, isTextDelta, type LogLimit } from './log-limit.ts'

export interface RunLogDeps extends ChatLimits {
  readonly events: EventLog
  readonly render: RenderEnvelope
  readonly targets: Pick<RunTargets, 'find'>
  readonly yieldTurn: YieldTurn
  readonly basePath: string
  /** Maximum size of one answer. A protocol shows up to half of it from the log, because some show a text twice. */
  readonly maxAnswerBytes: number
}

/** How far a log has been read. */
export interface LogCursor {
  /** The events of another log, or a log from which events were deleted since, must be read from the beginning. */
  readonly log: string
  readonly limit: LogLimit
  position: number
  /** Length of everything that was read. */
  read: number
}

/** One batch is read, shown and folded in one piece, while other requests wait. */
const BATCH = { limit: 200, maxLength: 128 * 1_024 }

export type ShownLogDeps = Pick<RunLogDeps, 'basePath' | 'maxAnswerBytes' | 'targets'>

/** What clients may see of a log: texts in place of the messages of exceptions, within the limit. @param maxBytes how much of the log is shown */
export function limitOf(
  { basePath, maxAnswerBytes, targets }: ShownLogDeps,
  run: FailingRun,
  maxBytes: number = maxAnswerBytes / 2,
): LogLimit {
  const limit = createLogLimit({ runId: run.id, maxBytes, basePath })
  const mask = createErrorMask(targets, run)
  return {
    ...limit,
    take: (event) =>
      isTextDelta(event.type) ? limit.take(event) : withoutBudgetRequests(mask(event)).flatMap(limit.take),
  }
}

/** The state of the whole log. Changes whenever events are deleted. */
export async function logName({ events }: Pick<RunLogDeps, 'events'>): Promise<string> {
  const { epoch, trimmedThrough } = await events.head()
  return `${epoch}.${trimmedThrough}`
}

export async function beginLog(deps: RunLogDeps, run: FailingRun, maxBytes?: number): Promise<LogCursor> {
  return { log: await logName(deps), limit: limitOf(deps, run, maxBytes), position: 0, read: 0 }
}

/**
 * Passes the events of a run to `take`, as the API delivers them and within the limit, and moves the cursor. Other
 * requests get their turn after each batch.
 *
 * @param take returns `false` to stop
 * @returns whether the log has had any events
 */
export async function readLog(
  { events, render, yieldTurn }: RunLogDeps,
  run: FailingRun,
  cursor: LogCursor,
  take: (event: LogEvent) => unknown,
): Promise<boolean> {
  const { epoch } = await events.head()
  const subject = runSubject(run)
  let isEmpty = true
  for (;;) {
    const batch = await events.read({ runId: run.id }, { after: cursor.position, ...BATCH })
    for (const event of batch) {
      isEmpty = false
      cursor.position = event.position
      cursor.read += event.payload.length
      if (!cursor.limit.needs(event.type)) continue
      const delivered = fromJsonText(render(event, { subject, epoch, isRepeat: true })) as LogEvent
      if (cursor.limit.take(delivered).some((one) => take(one) === false)) return true
      // A short patch can change a long state.
      if (event.type === 'part.state-delta') await yieldTurn()
    }
    if (batch.length === 0) return !isEmpty
    await yieldTurn()
  }
}

/**
 * Leaves out the requests of a run to go on beyond its budget. The client of a run must not decide them, and does not see costs:
 * for it, the run works until somebody has decided.
 */
function withoutBudgetRequests(event: LogEvent): readonly LogEvent[] {
  const fields = fieldsOf(event)
  if (fields.name === BUDGET_CALL && event.type.startsWith('approval.')) return []
  const { waitingFor } = fields
  if (event.type !== 'run.suspended' || !Array.isArray(waitingFor)) return [event]
  const others = waitingFor.filter((wait) => !(isFields(wait) && wait.name === BUDGET_CALL))
  return others.length === waitingFor.length ? [event] : [{ ...event, payload: { ...fields, waitingFor: others } }]
}
