import { AppError } from '@berth/ports'
import type { CreateStage } from './stage.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
const EXPOSED =
  'Idempotency-Replayed, Idempotency-Status, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Location'
const ALLOWED_HEADERS =
  'Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, traceparent, X-Request-Id'
const MAX_AGE_SECONDS = '600'

/** Which pages of other origins may call: those on the list. Never with credentials of the browser. */
export const createCors: CreateStage = ({ config }) => {
  const listed = new Set(config.allowOrigins)
  const isListed = (origin: string) => listed.has('*') || listed.has(origin)

  return ({ request, url, headers, methods }) => {
    headers.append('Vary', 'Origin')
    const origin = request.headers.get('origin')
    if (origin === null) return undefined

    const isPreflight = request.method === 'OPTIONS'
    if (!isListed(origin)) {
      const isSafe = SAFE.has(request.method) && !isPreflight
      if (isSafe || isSameOrigin(origin, request.headers.get('host') ?? url.host)) return undefined
      throw new AppError('cors-denied', { hint: 'add the origin to server.cors.allowOrigins' })
    }

    headers.set('Access-Control-Allow-Origin', listed.has('*') ? '*' : origin)
    headers.set('Access-Control-Expose-Headers', EXPOSED)
    return isPreflight ? answerPreflight(methods()) : undefined
  }
}

const isSameOrigin = (origin: string, host: string) =>
  origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase()

function answerPreflight(methods: readonly string[]): Response {
  const headers = {
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': MAX_AGE_SECONDS,
  }
  return new Response(null, { status: 204, headers })
}
