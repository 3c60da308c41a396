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
      const { request, requestId, route, startedMs, clientAddress } = exchange
      const operation = route?.mounted.operation
      const fields = { requestId, operationId: operation?.id }
      if (error?.id === 'internal-error') logger.error('request failed', error.cause ?? error, fields)
      else if (error !== undefined && operation !== undefined && !errorsOf(operation).includes(error.id)) {
        logger.error('undeclared error', error, fields)
      }
      const { method } = request
      const durationMs = Math.round(clock.monotonicMs() - startedMs)
      const principal = isAnonymous(exchange) ? undefined : exchange.principal
      const pattern = operation === undefined ? undefined : config.basePath + operation.path
      const answered = { method, status, durationMs, error: error?.id }
      logger.info('request', { ...fields, ...answered, route: pattern ?? null, subject: principal?.subject })
      measure(exchange, status, error)
      const target = Object.values(route?.params ?? {}).join('/') || undefined
      onAnswer?.({ ...fields, ...answered, route: pattern, target, principal, clientAddress })
    },
  }
}
