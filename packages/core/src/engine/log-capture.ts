import type { EventLog, LogFields, RunRecord } from '@perdure/ports'
import type { LogLevel } from '@perdure/protocol'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import type { CallScope } from '../durable/call-scope.ts'
import { LIMIT_LINE, type LogLine, logPayload, MAX_LOG_LINES } from '../runs/log-line.ts'
import { logTopic, runEvent } from '../runs/run-events.ts'

interface CountDeps extends RetryDeps {
  readonly events: EventLog
  /** Whether the lines of `ctx.log` are also events of the run. */
  readonly captureLogs: boolean
}

/** How many log lines of the run are in its event log. */
export const countLogLines = (
  { events, captureLogs, ...deps }: CountDeps,
  { id }: Pick<RunRecord, 'id'>,
): number | Promise<number> =>
  captureLogs
    ? retryTransient(deps, () => events.count({ topic: logTopic(id) }, { after: 0, through: Number.MAX_SAFE_INTEGER }))
    : 0

/** Appends a line of `ctx.log` to the event log of the run. */
export type CaptureLine = (level: LogLevel, message: unknown, fields: LogFields | undefined) => void

/**
 * Captures the log lines of one execution. Captures nothing while recorded calls remain, because those lines are in the
 * log already, and nothing once the run has ended.
 *
 * @param captured how many log lines of the run are in its event log already
 */
export function createLogCapture(
  { run, journal, ledger, clock }: Pick<CallScope, 'run' | 'journal' | 'ledger' | 'clock'>,
  captured: number,
): CaptureLine {
  let count = captured

  const append = (line: Omit<LogLine, 'runId'>) => {
    const payload = logPayload({ runId: run.id, ...line })
    const event = runEvent(run, { type: 'run.log', payload, at: clock.now() })
    void journal.record({ events: [{ ...event, topic: logTopic(run.id) }] })
  }

  return (level, message, fields) => {
    if (count > MAX_LOG_LINES || ledger.isReplaying() || journal.isClosed()) return
    append(count < MAX_LOG_LINES ? { level, message, fields } : LIMIT_LINE)
    count++
  }
}
