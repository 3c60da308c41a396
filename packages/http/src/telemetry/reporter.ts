import { channel } from 'node:diagnostics_channel'
import { traceIdOf } from '@perdure/core'
import type { LogFields, Logger, Refusal } from '@perdure/ports'
import { errorsOf } from '@perdure/protocol'
import { type Exchange, isAnonymous } from '../exchange.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { createAnswerMeter } from './answer-meter.ts'
import { endRequestSpan } from './request-span.ts'

/** The response to a request. */
export interface Outcome {
  readonly status: number
  /** Body length, if known before it is sent. */
  readonly bytes?: number | undefined
}

export interface Reporter {
  /** Writes the log line, updates the metrics and ends the span of a request. */
  answered(exchange: Exchange, outcome: Outcome, error: Refusal | undefined): void
}

/** Publishes each answer whose error its operation does not declare, so that a test of any kind can fail for it. */
const UNDECLARED = channel('perdure.undeclared-error')

export function createReporter(deps: HttpAppDeps): Reporter {
  const { clock, logger } = deps
  const measure = createAnswerMeter(deps)

  const fieldsOf = (exchange: Exchange, { status, bytes }: Outcome): LogFields => {
    const { head, requestId, route, startedMs, traceparent } = exchange
    const principal = isAnonymous(exchange) ? undefined : exchange.principal
    return {
      ...{ requestId, operationId: route?.mounted.operation.id, method: head.method },
      route: route?.mounted.pattern ?? null,
      ...{ status, durationMs: Math.round(clock.monotonicMs() - startedMs) },
      ...{ bytes, subject: principal?.subject, tokenId: principal?.tokenId, traceId: traceIdOf(traceparent) },
    }
  }

  return {
    answered(exchange, response, error) {
      const fields = fieldsOf(exchange, response)
      const operation = exchange.route?.mounted.operation
      if (error !== undefined && operation !== undefined && !errorsOf(operation).includes(error.code)) {
        logger.error('undeclared error', error, { requestId: exchange.requestId, operationId: operation.id })
        UNDECLARED.publish({ operationId: operation.id, code: error.code })
      }
      logLine(logger, { ...fields, error: error?.code }, { status: response.status, error })
      measure(exchange, response.status, error)
      endRequestSpan(exchange.span, response.status, error)
    },
  }
}

/** Logs `internal-error` with its cause at level `error`, other error responses at `warn`, the rest at `info`. */
function logLine(
  logger: Logger,
  fields: LogFields,
  { status, error }: { readonly status: number; readonly error: Refusal | undefined },
): void {
  if (error?.code === 'internal-error') logger.error('request', error.cause ?? error, fields)
  else if (status >= 400) logger.warn('request', fields)
  else logger.info('request', fields)
}
