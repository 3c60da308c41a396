import { AppError } from '@perdure/ports'
import type { Answer } from '../handlers.ts'
import { isSameOrigin } from '../request/same-origin.ts'
import type { CreateStage } from './stage.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
const ALLOWED_HEADERS =
  'Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Prefer, traceparent, X-Request-Id'
const MAX_AGE_SECONDS = '600'

/** Refuses unsafe requests from origins that are not allowed, and answers preflights. */
export const createOrigin: CreateStage =
  () =>
  ({ head, headers, methods }) => {
    const origin = head.header('origin')
    if (origin === undefined) return undefined

    const isPreflight = head.method === 'OPTIONS'
    if (headers.has('Access-Control-Allow-Origin')) return isPreflight ? answerPreflight(headers, methods()) : undefined
    const isSafe = SAFE.has(head.method) && !isPreflight
    if (isSafe || isSameOrigin(origin, head.host)) return undefined
    throw new AppError('cors-denied', { hint: 'add the origin to server.cors.allowOrigins' })
  }

function answerPreflight(headers: Map<string, string>, methods: readonly string[]): Answer {
  headers.set('Access-Control-Allow-Methods', methods.join(', '))
  headers.set('Access-Control-Allow-Headers', ALLOWED_HEADERS)
  headers.set('Access-Control-Max-Age', MAX_AGE_SECONDS)
  return { status: 204 }
}
