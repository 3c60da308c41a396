import { type AppError, noSpan, type Span, type Tracer } from '@perdure/ports'
import { methodLabel } from './answer-meter.ts'
import type { Exchange } from './exchange.ts'

/** The span of a request, below the one that it names. */
export function startRequestSpan(
  tracer: Tracer,
  exchange: Exchange,
  { basePath }: { readonly basePath: string },
): Span {
  if (!tracer.isOn) return noSpan
  const { head, route, requestId, isSecure, traceparent } = exchange
  const method = methodLabel(head.method)
  const attributes = {
    'http.request.method': method === 'other' ? '_OTHER' : method,
    'http.route': route === undefined ? undefined : basePath + route.mounted.operation.path,
    'url.scheme': isSecure ? 'https' : 'http',
    'perdure.request.id': requestId,
  }
  return tracer.start('request', attributes, traceparent)
}

/** What the request was answered. What the caller has done wrong is no error of the server's span. */
export function endRequestSpan(span: Span, status: number, error: AppError | undefined): void {
  if (span === noSpan) return
  const attributes = { 'http.response.status_code': status }
  if (status >= 500) span.end({ error: error?.id ?? String(status), attributes })
  else span.end({ attributes: { ...attributes, 'error.type': error?.id } })
}
