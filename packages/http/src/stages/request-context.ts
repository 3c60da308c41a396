import { noTracer, type RequestOrigin } from '@perdure/ports'
import type { Exchange } from '../exchange.ts'
import { createClientOf } from '../request/client.ts'
import { requestIdOf } from '../request/request-id.ts'
import { startRequestSpan } from '../telemetry/request-span.ts'
import type { CreateStage } from './stage.ts'

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Sets the request id, client address, origin and trace of the request. */
export const createRequestContext: CreateStage = ({ ids, config, tracer = noTracer }) => {
  const clientOf = createClientOf(config.trustProxy)

  return (exchange) => {
    const { head, env } = exchange
    exchange.requestId = requestIdOf(head.header('x-request-id'), ids)
    const { address, isSecure } = clientOf(env, head)
    exchange.clientAddress = address
    exchange.isSecure = isSecure
    exchange.origin = originOf(exchange)
    const traceparent = head.header('traceparent') ?? ''
    exchange.traceparent = TRACEPARENT.test(traceparent) ? traceparent : undefined
    exchange.span = startRequestSpan(tracer, exchange)
    exchange.traceparent = exchange.span.traceparent ?? exchange.traceparent
    return undefined
  }
}

const originOf = ({ head, requestId, clientAddress, route }: Exchange): RequestOrigin => ({
  requestId,
  method: head.method,
  route: route?.mounted.pattern ?? '',
  ip: clientAddress,
})
