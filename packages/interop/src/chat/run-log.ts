import { type RenderEnvelope, runSubject } from '@perdure/core'
import { type EventLog, fromJsonText, type ListedRun, type RunRecord, type YieldTurn } from '@perdure/ports'
import type { LogEvent } from '../fold/log-event.ts'
import type { ChatLimits } from './chat-input.ts'
import { createLogLimit, type LogLimit } from './log-limit.ts'

export interface RunLogDeps extends ChatLimits {
  readonly events: EventLog
  readonly render: RenderEnvelope
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

type Limits = Pick<RunLogDeps, 'basePath' | 'maxAnswerBytes'>

/** @param maxBytes how much of the log is shown */
export const limitOf = (
  { basePath, maxAnswerBytes }: Limits,
  runId: string,
  maxBytes: number = maxAnswerBytes / 2,
): LogLimit => createLogLimit({ runId, maxBytes, basePath })

/** The state of the whole log. Changes whenever events are deleted. */
export async function logName({ events }: Pick<RunLogDeps, 'events'>): Promise<string> {
  const { epoch, trimmedThrough } = await events.head()
  return `${epoch}.${trimmedThrough}`
}

export async function beginLog(deps: RunLogDeps, runId: string, maxBytes?: number): Promise<LogCursor> {
  return { log: await logName(deps), limit: limitOf(deps, runId, maxBytes), position: 0, read: 0 }
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
  run: Pick<ListedRun, 'id' | 'kind' | 'targetId'>,
  cursor: LogCursor,
  take: (event: LogEvent) => unknown,
): Promise<boolean> {
  const { epoch } = await events.head()
  const subject = runSubject(run as RunRecord)
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
    }
    if (batch.length === 0) return !isEmpty
    await yieldTurn()
  }
}
