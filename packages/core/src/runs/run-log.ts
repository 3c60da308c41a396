import type { LogFields, Logger, RunRecord } from '@berth/ports'
import { sanitizeText } from '../realtime/sanitize.ts'

/** A logger whose lines say to which run they belong, and to which trace when the run has one. */
export function createRunLog(logger: Logger, run: Pick<RunRecord, 'id' | 'traceparent'>): Logger {
  const own = { runId: run.id, traceId: traceIdOf(run.traceparent) }
  const withOwn = (fields: LogFields | undefined): LogFields => ({ ...fields, ...own })
  return {
    debug: (message, fields) => logger.debug(message, withOwn(fields)),
    info: (message, fields) => logger.info(message, withOwn(fields)),
    warn: (message, fields) => logger.warn(message, withOwn(fields)),
    error: (message, error, fields) => logger.error(message, error, withOwn(fields)),
  }
}

/** One line for an execution that begins. Never its input. */
export const logStart = (logger: Logger, run: RunRecord): void =>
  createRunLog(logger, run).info('run started', fieldsOf(run))

const MAX_REASON_LENGTH = 500

/**
 * One line for a run that has ended or is suspended. Never its result; of the words of its error what the sanitizer of
 * deliveries leaves, whatever its policy is.
 */
export function logOutcome(logger: Logger, run: RunRecord): void {
  const { status, finishReason, startedAt, completedAt, error } = run
  const durationMs = startedAt === undefined || completedAt === undefined ? undefined : completedAt - startedAt
  // Cut afterwards, so that no part of a secret is left at the edge.
  const reason = error && sanitizeText(error.message).slice(0, MAX_REASON_LENGTH)
  const outcome = { finishReason, durationMs, error: error?.code ?? error?.kind, reason }
  createRunLog(logger, run).info(`run ${status}`, { ...fieldsOf(run), ...outcome })
}

/** The trace that a W3C `traceparent` names. */
export const traceIdOf = (traceparent: string | undefined): string | undefined => traceparent?.split('-')[1]

const fieldsOf = ({ kind, targetId, sessionId, attempt }: RunRecord): LogFields => ({
  ...(kind === 'agent' ? { agentId: targetId } : { workflowId: targetId }),
  sessionId,
  attempt,
})
