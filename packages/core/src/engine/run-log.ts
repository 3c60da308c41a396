import type { LogFields, Logger, RunError, RunRecord } from '@perdure/ports'
import { sanitizeText } from '../realtime/sanitize.ts'
import { splitStackText } from '../runs/stack-text.ts'
import { nameOfThrown, textOfThrown } from '../runs/thrown-value.ts'
import type { CaptureLine } from './log-capture.ts'

/**
 * The `ctx.log` of a run: a logger that adds the run id to every line, and the trace id when the run has one. Each line
 * is also captured as an event of the run, unless `capture` is missing.
 */
export function createRunLog(
  logger: Logger,
  run: Pick<RunRecord, 'id' | 'traceparent'>,
  capture: CaptureLine = () => undefined,
): Logger {
  const own = { runId: run.id, traceId: traceIdOf(run.traceparent) }
  const withOwn = (fields: LogFields | undefined): LogFields => ({ ...fields, ...own })
  /** A line that the logger cannot write, such as one with circular fields, must not fail the run. */
  const write = (line: () => void) => {
    try {
      line()
    } catch (error) {
      logger.warn(`a log line of the run cannot be written: ${textOfThrown(error)}`, own)
    }
  }
  const writer = (level: 'debug' | 'info' | 'warn') => (message: string, fields?: LogFields) => {
    write(() => logger[level](String(message), withOwn(fields)))
    write(() => capture(level, message, fields))
  }
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error(message, error, fields) {
      write(() => logger.error(String(message), error, withOwn(fields)))
      write(() => capture('error', message, { error: `${nameOfThrown(error)}: ${textOfThrown(error)}`, ...fields }))
    },
  }
}

/** Logs one line when an execution begins, without its input. */
export const logStart = (logger: Logger, run: RunRecord): void => logger.info('run started', fieldsOf(run))

/**
 * Logs one line when a run has ended or is suspended, without its result. A run that failed by a thrown error is logged
 * at the level `error`, with its error, the stack and the causes, but without credentials and addresses that the error
 * may contain.
 */
export function logOutcome(logger: Logger, run: RunRecord): void {
  const { status, finishReason, startedAt, completedAt, error } = run
  const durationMs = startedAt === undefined || completedAt === undefined ? undefined : completedAt - startedAt
  const outcome = { finishReason, durationMs, error: error?.code, step: error?.step?.name }
  if (error === undefined || finishReason !== 'error') logger.info(`run ${status}`, fieldsOf(run, outcome))
  else logger.error(`run ${status}`, toThrown(error), fieldsOf(run, outcome))
}

/** Logs one line for an attempt that failed and is followed by another, with its error. */
export function logRetry(logger: Logger, queued: RunRecord, { error, delayMs }: RetryLine): void {
  const fields = fieldsOf(queued, { delayMs, error: error?.code, step: error?.step?.name })
  logger.warn(`the run failed and starts again: ${error?.message ?? 'no message'}`, fields)
}

interface RetryLine {
  readonly error: RunError | undefined
  readonly delayMs: number
}

/** Warns about durable calls that a completed run did not await. */
export function logOpenCalls(logger: Logger, run: RunRecord, calls: readonly string[]): void {
  for (const call of calls) logger.warn(`the run completed while the ${call} was open: await it`, fieldsOf(run))
}

/** The trace id in a W3C `traceparent`. */
export const traceIdOf = (traceparent: string | undefined): string | undefined => traceparent?.split('-')[1]

/** The recorded error as a logger takes it: an error with the recorded stack, and its causes with theirs. */
function toThrown({ code, message, cause: causes = [], stack }: RunError): Error {
  const [first, ...others] = stack === undefined ? [] : splitStackText(stack)
  const cause = causes.reduceRight<Error | undefined>(
    (inner, { name, message }, index) => withStack({ name, message, cause: inner }, others[index]),
    undefined,
  )
  return Object.assign(withStack({ name: nameIn(first), message, cause }, first), { code })
}

/** The name of the error that a stack begins with. */
const nameIn = (stack = ''): string => /^[A-Za-z]\w*/.exec(stack)?.[0] ?? 'Error'

function withStack(
  { name, message, cause }: { readonly name: string; readonly message: string; readonly cause: Error | undefined },
  stack: string | undefined,
): Error {
  const error = new Error(sanitizeText(message), cause === undefined ? undefined : { cause })
  return Object.defineProperties(error, { name: { value: name }, stack: { value: stack && sanitizeText(stack) } })
}

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
