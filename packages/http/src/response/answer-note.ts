import type { Clock, Refusal } from '@perdure/ports'
import { type Exchange, isAnonymous } from '../exchange.ts'
import type { AnswerNote } from '../http-app-deps.ts'

const MAX_TARGET = 256

/** The loggable part of a request; never its body, query or credentials. */
export function noteOf(
  exchange: Exchange,
  { status, error }: { readonly status: number; readonly error: Refusal | undefined },
  { clock }: { readonly clock: Clock },
): AnswerNote {
  const { head, requestId, clientAddress, route, principal, startedMs, headers, origin } = exchange
  const operation = route?.mounted.operation
  const target = Object.values(route?.params ?? {}).join('/')
  return {
    operationId: operation?.id,
    isPrivileged: operation?.privileged === true,
    method: head.method,
    route: route?.mounted.pattern,
    target: target === '' ? undefined : target.slice(0, MAX_TARGET),
    principal: isAnonymous(exchange) ? undefined : principal,
    status,
    error: error?.code,
    durationMs: clock.monotonicMs() - startedMs,
    requestId,
    clientAddress,
    isReplayed: headers.get('Idempotency-Replayed') === 'true',
    origin,
  }
}
