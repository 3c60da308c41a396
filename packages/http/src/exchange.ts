import type { KeyedRequest, Principal, ReceivedFile } from '@perdure/core'
import { EVERY_ROW, noSpan, type RequestOrigin, type Span, type Visibility } from '@perdure/ports'
import type { Operation, ProtocolName } from '@perdure/protocol'
import type { Call } from './handlers.ts'
import { acceptsEventStream } from './request/accept.ts'
import type { HttpEnv } from './request/http-env.ts'
import type { HttpRequest } from './request/http-request.ts'
import { parsePrefer } from './request/prefer.ts'
import { type RequestHead, readHead } from './request/request-head.ts'
import type { Route, Router } from './router.ts'

/** The state of one request as it passes through the stages. */
export interface Exchange {
  readonly request: HttpRequest
  readonly head: RequestHead
  readonly env: HttpEnv
  readonly route: Route | undefined
  readonly methods: () => readonly string[] // allowed on this path
  readonly protocol: ProtocolName | undefined // the protocol in which errors are shown
  readonly mountPath: string // precedes the base path in the URL of the client
  /** Headers to send with the response, including error responses. */
  readonly headers: Map<string, string>
  readonly startedMs: number // monotonic
  /** The request log keys the request's privileged actions by this object: pass the same object, not a copy. */
  origin: RequestOrigin
  requestId: string
  clientAddress: string
  isSecure: boolean // the client used TLS
  /** Names the span of this request if the request is traced, otherwise the parent span that the client sent. */
  traceparent: string | undefined
  span: Span
  principal: Principal
  query: unknown
  /** The parsed body, before its schema applies defaults. */
  json: unknown
  /** Identifies a body to an idempotency key if the body is too large to be compared member by member. */
  content: object | undefined
  body: unknown
  /** The content of an operation that takes a file instead of JSON. */
  received: ReceivedFile | undefined
  visibility: Visibility
  key: KeyedRequest | undefined
  /** Counts a poll by the bytes that it has cost; `undefined` for any other request. */
  charge: ((bytes: number) => void) | undefined
}

const EMPTY_ORIGIN: RequestOrigin = { requestId: '', method: '', route: '', ip: '' }

/** The principal of a request that has no credentials and needs none. */
const ANONYMOUS: Principal = { subject: 'anonymous', scopes: [] }

export function createExchange(
  request: HttpRequest,
  env: HttpEnv,
  { router, startedMs }: { readonly router: Router; readonly startedMs: number },
): Exchange {
  const { head, mountPath } = locate(readHead(request, env), env, router)
  const route = router.match(head.method, head.path)
  return {
    request,
    head,
    env,
    route,
    protocol: route === undefined ? router.protocolAt(head.path) : route.mounted.protocol,
    methods: () => router.methodsOf(head.path),
    mountPath,
    headers: new Map(),
    startedMs,
    origin: EMPTY_ORIGIN,
    requestId: '',
    clientAddress: '',
    isSecure: false,
    traceparent: undefined,
    span: noSpan,
    principal: ANONYMOUS,
    query: {},
    json: undefined,
    content: undefined,
    body: undefined,
    received: undefined,
    visibility: EVERY_ROW,
    key: undefined,
    charge: undefined,
  }
}

function locate(head: RequestHead, { isMounted = false }: HttpEnv, router: Router) {
  if (!isMounted) return { head, mountPath: '' }
  const { path, mountPath } = router.mountedPathOf(head.path)
  return { head: { ...head, path }, mountPath }
}

export const isAnonymous = ({ principal }: Exchange) => principal === ANONYMOUS

/** Extracts the part of the exchange that a handler receives. */
export function toCall(exchange: Exchange, readRaw: Call<Operation>['readRaw']): Call<Operation> {
  const { head, route, query, body, received, principal, visibility, key, traceparent } = exchange
  const { clientAddress, isSecure } = exchange
  return {
    params: route?.params ?? {},
    query,
    body,
    received,
    readRaw,
    principal,
    visibility,
    key,
    traceparent,
    acceptEncoding: head.header('accept-encoding') ?? '',
    ifNoneMatch: head.header('if-none-match') ?? '',
    clientAddress,
    host: head.host,
    isSecure,
    requestOrigin: exchange.origin,
    prefer: parsePrefer(head.header('prefer')),
    acceptsEventStream: acceptsEventStream(head.header('accept')),
    charge: exchange.charge,
    origin: head.header('origin'),
    lastEventId: head.header('last-event-id') || undefined,
    header: head.header,
  }
}
