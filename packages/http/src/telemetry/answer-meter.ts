import type { Clock, Meter, Refusal } from '@perdure/ports'
import type { Exchange } from '../exchange.ts'

export interface AnswerMeterDeps {
  readonly meter: Meter
  readonly clock: Clock
}

/** Updates the request metrics, once per response. */
export type AnswerMeter = (exchange: Exchange, status: number, error: Refusal | undefined) => void

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The method, or `other`, so that clients cannot create new label values. */
export const methodLabel = (method: string): string => (METHODS.has(method) ? method : 'other')

export function createAnswerMeter({ meter, clock }: AnswerMeterDeps): AnswerMeter {
  return (exchange, status, error) => {
    const { head, route, startedMs } = exchange
    const labels = {
      method: methodLabel(head.method),
      route: route?.mounted.pattern ?? 'unmatched',
    }
    meter.count('svc_http_requests_total', { ...labels, status: String(status) })
    meter.observe('svc_http_request_duration_seconds', labels, (clock.monotonicMs() - startedMs) / 1_000)
    if (error?.code === 'rate-limit-exceeded') meter.count('svc_rate_limited_total', {})
    if (error?.code.startsWith('auth-')) meter.count('svc_auth_failures_total', { code: error.code })
    const outcome = idempotencyOutcomeOf(exchange, error)
    if (outcome !== undefined) meter.count('svc_idempotency_requests_total', { outcome })
  }
}

/** Outcome of the idempotency key; `undefined` if the request was refused before the key was read. */
function idempotencyOutcomeOf({ key, headers }: Exchange, error: Refusal | undefined): string | undefined {
  switch (error?.code) {
    case 'idempotency-conflict':
      return 'conflict'
    case 'idempotency-in-flight':
      return 'in-flight'
    case 'idempotency-key-invalid':
      return 'invalid'
    case 'idempotency-key-required':
      return 'missing'
  }
  if (headers.get('Idempotency-Status') === 'missing') return 'missing'
  if (headers.get('Idempotency-Replayed') === 'true') return 'replayed'
  return key === undefined ? undefined : 'new'
}
