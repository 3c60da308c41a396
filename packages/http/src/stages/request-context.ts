import { clientAddressOf } from '../http-env.ts'
import { requestIdOf } from '../request-id.ts'
import type { CreateStage } from './stage.ts'

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Who asks, under which id and trace. */
export const createRequestContext: CreateStage =
  ({ ids }) =>
  (exchange) => {
    const { request, env } = exchange
    exchange.requestId = requestIdOf(request.headers.get('x-request-id'), ids)
    exchange.clientAddress = clientAddressOf(env)
    const traceparent = request.headers.get('traceparent') ?? ''
    exchange.traceparent = TRACEPARENT.test(traceparent) ? traceparent : undefined
    return undefined
  }
