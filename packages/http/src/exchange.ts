import type { KeyedRequest, Principal } from '@perdure/core'
import { EVERY_ROW, noSpan, type RequestOrigin, type Span, type Visibility } from '@perdure/ports'
import type { Operation } from '@perdure/protocol'
import { acceptsEventStream } from './accept.ts'
import type { Call } from './handlers.ts'
import type { HttpEnv } from './http-env.ts'
import type { HttpRequest } from './http-request.ts'
import { parsePrefer } from './prefer.ts'
import { type RequestHead, readHead } from './request-head.ts'
import type { Route, Router } from './router.ts'

/** One request on its way through the stages; each fills in what it finds out. */
export interface Exchange {
  readonly request: HttpRequest
  readonly head: RequestHead
  readonly env: HttpEnv
  readonly route: Route | undefined
  readonly methods: () => readonly string[] // of this path
  /** Sent with the answer, whatever it is. */
  readonly headers: Map<string, string>
  readonly startedMs: number // monotonic
  /** This request, for the audit chain; its deeds name it by identity. */
  origin: RequestOrigin
  requestId: string
  clientAddress: string
  isSecure: boolean // the client spoke TLS
  /** As received, or the place of the span of this request. */
  traceparent: string | undefined
  span: Span
  principal: Principal
  query: unknown
  /** The body as parsed, before its schema filled anything in. */
  json: unknown
  body: unknown
  visibility: Visibility
  key: KeyedRequest | undefined
}

const NOWHERE: RequestOrigin = { requestId: '', method: '', route: '', ip: '' }

/** The principal of a request that shows no credentials and needs none. */
const NOBODY: Principal = { subject: 'anonymous', scopes: [] }

export function createExchange(
  request: HttpRequest,
  env: HttpEnv,
  { router, startedMs }: { readonly router: Router; readonly startedMs: number },
): Exchange {
  const head = readHead(request, env)
  return {
    request,
    head,
    env,
    route: router.match(head.method, head.path),
    methods: () => router.methodsOf(head.path),
    headers: new Map(),
    startedMs,
    origin: NOWHERE,
    requestId: '',
    clientAddress: '',
    isSecure: false,
    traceparent: undefined,
    span: noSpan,
    principal: NOBODY,
    query: {},
    json: undefined,
    body: undefined,
    visibility: EVERY_ROW,
    key: undefined,
  }
}

/** Cuts the connection of the answer; missing where there is none. */
export function hangUpOf({ env }: Pick<Exchange, 'env'>): (() => void) | undefined {
  const { outgoing } = env
  return outgoing === undefined ? undefined : () => void outgoing.destroy()
}

export const isAnonymous = ({ principal }: Exchange) => principal === NOBODY

/** What a handler sees of the exchange. */
export function toCall(exchange: Exchange): Call<Operation> {
  const { head, route, query, body, principal, visibility, key, traceparent } = exchange
  return {
    params: route?.params ?? {},
    query,
    body,
    principal,
    visibility,
    key,
    traceparent,
    prefer: parsePrefer(head.header('prefer')),
    acceptsEventStream: acceptsEventStream(head.header('accept')),
    hangUp: hangUpOf(exchange),
    origin: head.header('origin'),
    lastEventId: head.header('last-event-id') || undefined,
  }
}
