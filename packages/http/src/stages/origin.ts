import { perdureError } from '@perdure/ports'
import { PROTOCOLS, type Protocol } from '@perdure/protocol'
import type { Answer } from '../handlers.ts'
import type { RequestHead } from '../request/request-head.ts'
import { isSameOrigin } from '../request/same-origin.ts'
import { type CreateStage, SAFE_METHODS } from './stage.ts'

const PROTOCOL_HEADERS = Object.values<Protocol>(PROTOCOLS).flatMap(({ headers }) => headers ?? [])
const ALLOWED_HEADERS = [
  ...['Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'Prefer', 'traceparent'],
  ...['X-Request-Id', ...PROTOCOL_HEADERS.flatMap(({ sent }) => sent ?? [])],
].join(', ')
const ALLOWED_PATTERNS = PROTOCOL_HEADERS.flatMap(({ sentPattern }) => sentPattern ?? [])
const MAX_ASKED = 32
const MAX_AGE_SECONDS = '600'

/** Refuses unsafe requests from origins that are not allowed, and answers preflights. */
export const createOrigin: CreateStage =
  () =>
  ({ head, headers, methods }) => {
    const origin = head.header('origin')
    if (origin === undefined) return undefined

    const isPreflight = head.method === 'OPTIONS'
    if (headers.has('Access-Control-Allow-Origin')) {
      return isPreflight ? answerPreflight(head, headers, methods()) : undefined
    }
    const isSafe = SAFE_METHODS.has(head.method) && !isPreflight
    if (isSafe || isSameOrigin(origin, head.host)) return undefined
    throw perdureError('cors-denied', { hint: 'add the origin to server.cors.allowOrigins' })
  }

function answerPreflight({ header }: RequestHead, headers: Map<string, string>, methods: readonly string[]): Answer {
  const asked = (header('access-control-request-headers') ?? '')
    .split(',')
    .filter((name) => ALLOWED_PATTERNS.some((pattern) => pattern.test(name.trim())))
  headers.set('Access-Control-Allow-Methods', methods.join(', '))
  headers.set('Access-Control-Allow-Headers', [ALLOWED_HEADERS, ...asked.slice(0, MAX_ASKED)].join(','))
  headers.set('Access-Control-Max-Age', MAX_AGE_SECONDS)
  return { status: 204 }
}
