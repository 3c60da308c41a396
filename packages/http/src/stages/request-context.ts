import { createClientOf } from '../client.ts'
import { requestIdOf } from '../request-id.ts'
import type { CreateStage } from './stage.ts'

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Who asks, under which id and trace. */
export const createRequestContext: CreateStage = ({ ids, config }) => {
  const clientOf = createClientOf(config.trustProxy)

  return (exchange) => {
    const { request, url, env } = exchange
    exchange.requestId = requestIdOf(request.headers.get('x-request-id'), ids)
    const { address, isSecure } = clientOf(env, url, request.headers)
    exchange.clientAddress = address
    exchange.isSecure = isSecure
    const traceparent = request.headers.get('traceparent') ?? ''
    exchange.traceparent = TRACEPARENT.test(traceparent) ? traceparent : undefined
    return undefined
  }
}
