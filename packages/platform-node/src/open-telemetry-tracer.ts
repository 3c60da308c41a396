import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Context, Span as ForeignSpan, Tracer as ForeignTracer, SpanContext } from '@opentelemetry/api'
import { type Logger, noSpan, type Span, type SpanEnd, StartError, type Tracer } from '@perdure/ports'
import { SPANS, type SpanAttributes, type SpanName, spanTitle } from '@perdure/protocol'

type Api = typeof import('@opentelemetry/api')

export interface TracerOptions {
  /** Release of the server, the version of its instrumentation scope. */
  readonly version: string
  readonly logger: Pick<Logger, 'warn'>
  /** Folder beside whose modules an SDK is registered: its copy of the optional package comes first. */
  readonly from?: string
  /** How the package is loaded otherwise. */
  readonly load?: () => Promise<unknown>
}

const PEER = '@opentelemetry/api'
const SCOPE = 'perdure'
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/

/**
 * Spans by the API of OpenTelemetry. Whoever runs the server registers an SDK with its exporters there, before or after;
 * without one nothing is recorded, and trace contexts are handed on.
 *
 * @throws StartError `tracing-peer-missing`
 */
export async function openTracer({ version, logger, from, load = loadPeer }: TracerOptions): Promise<Tracer> {
  const found = from === undefined ? undefined : peerBeside(from)
  const api = (found ??
    (await load().catch((cause: unknown) => {
      throw new StartError('tracing-peer-missing', {
        message: `telemetry.traces needs the package ${PEER}, which cannot be loaded`,
        hint: `install it beside the server: npm install ${PEER}`,
        cause,
      })
    }))) as Api
  return createTracer(api, { version, logger })
}

const loadPeer = (): Promise<unknown> => import('@opentelemetry/api')

/** Two copies find each other's SDK only when the later release has registered it. */
function peerBeside(folder: string): unknown {
  try {
    return createRequire(join(folder, 'package.json'))(PEER)
  } catch {
    return undefined
  }
}

interface Maker {
  readonly api: Api
  readonly tracer: ForeignTracer
  /** What the SDK, its processors or samplers throw costs a span, and nothing else. */
  readonly quietly: <T>(work: () => T, otherwise: T) => T
  /** Told of a span that nobody records. */
  readonly unheard: () => void
}

function createTracer(api: Api, { version, logger }: Pick<TracerOptions, 'version' | 'logger'>): Tracer {
  const warned = new Set<string>()
  const warn = (message: string, fields?: { readonly message: string }) => {
    if (!warned.has(message)) logger.warn(message, fields)
    warned.add(message)
  }
  const unheard = () => warn('telemetry.traces is on and no SDK of OpenTelemetry is registered: spans go nowhere')
  const failed = (error: unknown) => warn('the tracing system failed: spans are missing', { message: String(error) })
  const quietly: Maker['quietly'] = (work, otherwise) => {
    try {
      return work()
    } catch (error) {
      failed(error)
      return otherwise
    }
  }

  return {
    isOn: true,
    start: (name, attributes, traceparent) =>
      quietly(
        () => {
          // Asked for each time: the SDK may be registered later than this.
          const maker = { api, quietly, unheard, tracer: api.trace.getTracer(SCOPE, version) }
          return startSpan(maker, { name, attributes, parent: parentOf(api, name, traceparent) })
        },
        { ...noSpan, traceparent },
      ),
    async flush() {
      try {
        await providerOf(api).forceFlush?.()
      } catch (error) {
        failed(error)
      }
    },
  }
}

function parentOf({ context, trace, ROOT_CONTEXT }: Api, name: SpanName, traceparent: string | undefined): Context {
  const active = SPANS[name].kind === 'server' ? context.active() : ROOT_CONTEXT
  if (trace.getSpan(active) !== undefined) return active
  const remote = traceparent === undefined ? undefined : toSpanContext(traceparent)
  return remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote)
}

interface Start {
  readonly name: SpanName
  readonly attributes: SpanAttributes
  readonly parent: Context
}

function startSpan(maker: Maker, { name, attributes, parent }: Start): Span {
  const { api, tracer, quietly, unheard } = maker
  const { kind, fixed } = SPANS[name]
  const options = {
    kind: KINDS[kind](api),
    attributes: { ...fixed, ...attributes },
  }
  const span = tracer.startSpan(spanTitle(name, attributes), options, parent)
  const place = api.trace.setSpan(parent, span)
  const above = toTraceparent(api, api.trace.getSpanContext(parent))
  const own = toTraceparent(api, span.spanContext())
  if (own === undefined || own === above) unheard()
  const traceparent = own ?? above
  let isOver = false

  return {
    traceparent,
    start: (below, given) =>
      quietly(() => startSpan(maker, { name: below, attributes: given, parent: place }), { ...noSpan, traceparent }),
    within: (fn) => api.context.with(place, fn),
    end(end) {
      if (isOver) return
      isOver = true
      quietly(() => finish(api, span, end), undefined)
    },
  }
}

function finish({ SpanStatusCode }: Api, span: ForeignSpan, { error, attributes = {} }: SpanEnd = {}): void {
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined) span.setAttribute(attribute, value)
  }
  if (error !== undefined) {
    span.setAttribute('error.type', error)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

const KINDS = {
  server: ({ SpanKind }: Api) => SpanKind.SERVER,
  client: ({ SpanKind }: Api) => SpanKind.CLIENT,
  internal: ({ SpanKind }: Api) => SpanKind.INTERNAL,
} as const

/** The provider that was registered, which may be behind a proxy. Flushing is no part of the API, but of every SDK. */
function providerOf({ trace }: Api): { readonly forceFlush?: () => Promise<void> } {
  const provider = trace.getTracerProvider() as { readonly getDelegate?: () => object }
  return (provider.getDelegate?.() ?? provider) as { readonly forceFlush?: () => Promise<void> }
}

function toSpanContext(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags = ''] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

function toTraceparent({ trace }: Api, context: SpanContext | undefined): string | undefined {
  if (context === undefined || !trace.isSpanContextValid(context)) return undefined
  const { traceId, spanId, traceFlags } = context
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
