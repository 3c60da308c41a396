import type { AppError } from '@berth/ports'
import { errorsOf } from '@berth/protocol'
import { createAnswerMeter } from './answer-meter.ts'
import { type Exchange, isAnonymous } from './exchange.ts'
import type { HttpAppDeps } from './http-app-deps.ts'

export interface Reporter {
  /** One line per answer, the metrics, and the hook. */
  answered(exchange: Exchange, status: number, error: AppError | undefined): void
}

export function createReporter(deps: HttpAppDeps): Reporter {
  const { clock, logger, config, onAnswer } = deps
  const measure = createAnswerMeter(deps)

  return {
    answered(exchange, status, error) {
      const { request, requestId, route, principal, startedMs } = exchange
      const operation = route?.mounted.operation
      const fields = { requestId, operationId: operation?.id }
      if (error?.id === 'internal-error') logger.error('request failed', error.cause ?? error, fields)
      else if (error !== undefined && operation !== undefined && !errorsOf(operation).includes(error.id)) {
        logger.error('undeclared error', error, fields)
      }
      logger.info('request', {
        ...fields,
        method: request.method,
        route: operation === undefined ? null : config.basePath + operation.path,
        status,
        durationMs: Math.round(clock.monotonicMs() - startedMs),
        subject: isAnonymous(exchange) ? undefined : principal.subject,
        error: error?.id,
      })
      measure(exchange, status, error)
      onAnswer?.({ operationId: operation?.id, status, error: error?.id })
    },
  }
}
