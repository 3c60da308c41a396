import type { LogFields, Logger, RunRecord } from '@perdure/ports'

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
export const logStart = (logger: Logger, run: RunRecord): void => logger.info('run started', fieldsOf(run))

/** One line for a run that has ended or is suspended. Never its result, nor the words of its error. */
export function logOutcome(logger: Logger, run: RunRecord): void {
  const { status, finishReason, startedAt, completedAt, error } = run
  const durationMs = startedAt === undefined || completedAt === undefined ? undefined : completedAt - startedAt
  logger.info(`run ${status}`, fieldsOf(run, { finishReason, durationMs, error: error?.code ?? error?.kind }))
}

/** The trace that a W3C `traceparent` names. */
export const traceIdOf = (traceparent: string | undefined): string | undefined => traceparent?.split('-')[1]

function fieldsOf(run: RunRecord, outcome?: LogFields): LogFields {
  const { id: runId, kind, targetId, sessionId, attempt, traceparent } = run
  return {
    agentId: kind === 'agent' ? targetId : undefined,
    workflowId: kind === 'workflow' ? targetId : undefined,
    sessionId,
    attempt,
    ...outcome,
    runId,
    traceId: traceIdOf(traceparent),
  }
}
