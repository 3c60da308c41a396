import type { LogFields, Logger, RunRecord } from '@perdure/ports'

/** A logger that adds the run id to every line, and the trace id when the run has one. */
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

/** Logs one line when an execution begins, without its input. */
export const logStart = (logger: Logger, run: RunRecord): void => logger.info('run started', fieldsOf(run))

/** Logs one line when a run has ended or is suspended, without its result or its error message. */
export function logOutcome(logger: Logger, run: RunRecord): void {
  const { status, finishReason, startedAt, completedAt, error } = run
  const durationMs = startedAt === undefined || completedAt === undefined ? undefined : completedAt - startedAt
  logger.info(`run ${status}`, fieldsOf(run, { finishReason, durationMs, error: error?.code ?? error?.kind }))
}

/** The trace id in a W3C `traceparent`. */
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
