import { noSpan, type Refusal, type Span, type Tracer } from '@perdure/ports'
import type { Exchange } from '../exchange.ts'
import { methodLabel } from './answer-meter.ts'

/** Starts the span of a request, as a child of its traceparent. */
export function startRequestSpan(tracer: Tracer, exchange: Exchange): Span {
  if (!tracer.isEnabled) return noSpan
  const { head, route, requestId, isSecure, traceparent } = exchange
  const method = methodLabel(head.method)
  const attributes = {
    'http.request.method': method === 'other' ? '_OTHER' : method,
    'http.route': route?.mounted.pattern,
    'url.scheme': isSecure ? 'https' : 'http',
    'perdure.request.id': requestId,
  }
  return tracer.start('request', attributes, traceparent)
}

/** Ends the span. Only a 5xx marks it as failed: a 4xx is the caller's error. */
export function endRequestSpan(span: Span, status: number, error: Refusal | undefined): void {
  if (span === noSpan) return
  const attributes = { 'http.response.status_code': status }
  if (status >= 500) span.end({ error: error?.code ?? String(status), attributes })
  else span.end({ attributes: { ...attributes, 'error.type': error?.code } })
}
