import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Context, Span as ForeignSpan, Tracer as ForeignTracer, SpanContext } from '@opentelemetry/api'
import { type Logger, noSpan, type Span, type SpanEnd, StartError, type Tracer } from '@perdure/ports'
import { SPANS, type SpanAttributes, type SpanName, spanTitle } from '@perdure/protocol'

type Api = typeof import('@opentelemetry/api')

export interface TracerOptions {
  /** Release of the server, used as the version of the instrumentation scope. */
  readonly version: string
  readonly logger: Pick<Logger, 'warn'>
  /** Folder of the modules that register the SDK. If the optional package is installed there, that copy is used. */
  readonly from?: string
  /** Loads the package if `from` does not contain a copy. */
  readonly load?: () => Promise<unknown>
}

const PEER = '@opentelemetry/api'
const SCOPE = 'perdure'
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/

/**
 * Creates spans through the OpenTelemetry API. The operator registers an SDK with its exporters, before or after this
 * call. Without an SDK no span is recorded, and trace contexts are passed on.
 *
 * @throws StartError `tracing-peer-missing`
 */
export async function openTracer({ version, logger, from, load = loadPeer }: TracerOptions): Promise<Tracer> {
  const found = from === undefined ? undefined : peerBeside(from)
  const api = (found ??
    (await load().catch((cause: unknown) => {
      throw new StartError('tracing-peer-missing', {
        message: `telemetry.traces is enabled, but the package ${PEER} cannot be loaded`,
        hint: `install it beside the server: npm install ${PEER}`,
        cause,
      })
    }))) as Api
  return createTracer(api, { version, logger })
}

const loadPeer = (): Promise<unknown> => import('@opentelemetry/api')

/**
 * Loads the copy through which the operator registers the SDK: an older or equal copy finds the SDK, a newer one does
 * not.
 */
function peerBeside(folder: string): unknown {
  try {
    return createRequire(join(folder, 'package.json'))(PEER)
  } catch {
    return undefined
  }
}

interface SpanFactory {
  readonly api: Api
  readonly tracer: ForeignTracer
  /** Catches errors of the SDK, its processors and samplers: an error may lose a span, but must not fail the caller. */
  readonly orElse: <T>(work: () => T, otherwise: T) => T
  /** Called for a span that no SDK records. */
  readonly onUnrecorded: () => void
}

function createTracer(api: Api, { version, logger }: Pick<TracerOptions, 'version' | 'logger'>): Tracer {
  const warned = new Set<string>()
  const warn = (message: string, fields?: { readonly message: string }) => {
    if (!warned.has(message)) logger.warn(message, fields)
    warned.add(message)
  }
  const onUnrecorded = () =>
    warn('telemetry.traces is enabled, but no OpenTelemetry SDK is registered; spans are dropped')
  const failed = (error: unknown) => warn('the OpenTelemetry SDK failed; spans are missing', { message: String(error) })
  const orElse: SpanFactory['orElse'] = (work, otherwise) => {
    try {
      return work()
    } catch (error) {
      failed(error)
      return otherwise
    }
  }

  return {
    isEnabled: true,
    start: (name, attributes, traceparent) =>
      orElse(
        () => {
          // Resolved for each span: the SDK may be registered later.
          const factory = { api, orElse, onUnrecorded, tracer: api.trace.getTracer(SCOPE, version) }
          return startSpan(factory, { name, attributes, parent: parentOf(api, name, traceparent) })
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

function startSpan(factory: SpanFactory, { name, attributes, parent }: Start): Span {
  const { api, tracer, orElse, onUnrecorded } = factory
  const { kind, fixed } = SPANS[name]
  const options = {
    kind: KINDS[kind](api),
    attributes: { ...fixed, ...attributes },
  }
  const span = tracer.startSpan(spanTitle(name, attributes), options, parent)
  const spanContext = api.trace.setSpan(parent, span)
  const ofParent = toTraceparent(api, api.trace.getSpanContext(parent))
  const own = toTraceparent(api, span.spanContext())
  if (own === undefined || own === ofParent) onUnrecorded()
  const traceparent = own ?? ofParent
  let hasEnded = false

  return {
    traceparent,
    start: (child, given) =>
      orElse(() => startSpan(factory, { name: child, attributes: given, parent: spanContext }), {
        ...noSpan,
        traceparent,
      }),
    within: (fn) => api.context.with(spanContext, fn),
    end(end) {
      if (hasEnded) return
      hasEnded = true
      orElse(() => finish(api, span, end), undefined)
    },
  }
}

function finish({ SpanStatusCode }: Api, span: ForeignSpan, { error, attributes = {} }: SpanEnd = {}): void {
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined) span.setAttribute(attribute, typeof value === 'object' ? [...value] : value)
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

/** The registered provider, which may be behind a proxy. Flushing is not part of the API, but every SDK provides it. */
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
