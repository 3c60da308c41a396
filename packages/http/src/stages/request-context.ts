import { AppError } from '@berth/ports'
import { clientAddressOf, repeatedHeader } from '../http-env.ts'
import type { CreateStage } from './stage.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Who asks, under which id and trace; refuses a header that is sent twice and would be read in two ways. */
export const createRequestContext: CreateStage =
  ({ ids }) =>
  (exchange) => {
    const { request, env } = exchange
    const sent = request.headers.get('x-request-id') ?? ''
    exchange.requestId = REQUEST_ID.test(sent) ? sent : `req_${toHex(ids.randomBytes(16))}`
    exchange.clientAddress = clientAddressOf(env)
    const traceparent = request.headers.get('traceparent') ?? ''
    exchange.traceparent = TRACEPARENT.test(traceparent) ? traceparent : undefined

    const repeated = repeatedHeader(env)
    if (repeated !== undefined) {
      throw new AppError('validation-failed', { message: `header ${repeated}: sent more than once` })
    }
    return undefined
  }

const toHex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
