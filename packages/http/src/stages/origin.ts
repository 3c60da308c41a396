import { perdureError } from '@perdure/ports'
import type { Answer } from '../handlers.ts'
import type { RequestHead } from '../request/request-head.ts'
import { isSameOrigin } from '../request/same-origin.ts'
import type { CreateStage } from './stage.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
const ALLOWED_HEADERS =
  'Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Prefer, traceparent, X-Request-Id'
/** The headers in which the SDK of OpenAI describes itself; new versions of it add some. */
const OF_SDK = /^(?:x-stainless|openai)-[a-z-]{1,48}$/i
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
    const isSafe = SAFE.has(head.method) && !isPreflight
    if (isSafe || isSameOrigin(origin, head.host)) return undefined
    throw perdureError('cors-denied', { hint: 'add the origin to server.cors.allowOrigins' })
  }

function answerPreflight({ header }: RequestHead, headers: Map<string, string>, methods: readonly string[]): Answer {
  const asked = (header('access-control-request-headers') ?? '').split(',').filter((name) => OF_SDK.test(name.trim()))
  headers.set('Access-Control-Allow-Methods', methods.join(', '))
  headers.set('Access-Control-Allow-Headers', [ALLOWED_HEADERS, ...asked.slice(0, MAX_ASKED)].join(','))
  headers.set('Access-Control-Max-Age', MAX_AGE_SECONDS)
  return { status: 204 }
}
