import type { Span, SpanEnd, Tracer } from '@perdure/ports'
import { SPANS, type SpanAttributes, type SpanName, spanTitle } from '@perdure/protocol'

/** The current state of a span. */
export interface RecordedSpan {
  readonly name: SpanName
  readonly title: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly attributes: SpanAttributes
  readonly error: string | undefined
  readonly isEnded: boolean
}

export interface InMemoryTracer extends Tracer {
  /** All spans in start order. */
  readonly spans: readonly RecordedSpan[]
  /** Ended spans in end order. */
  readonly ended: readonly RecordedSpan[]
}

interface Place {
  readonly traceId: string
  readonly spanId: string | undefined
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-[0-9a-f]{2}$/

/** Keeps spans in a list for tests to read. Throws for an attribute that the span's row in `SPANS` does not list. */
export function createInMemoryTracer(): InMemoryTracer {
  const spans: { -readonly [Member in keyof RecordedSpan]: RecordedSpan[Member] }[] = []
  const ended: RecordedSpan[] = []
  const newId = (digits: number) => (spans.length + 1).toString(16).padStart(digits, '0')

  const start = (name: SpanName, attributes: SpanAttributes, { traceId, spanId: parentId }: Place): Span => {
    const spanId = newId(16)
    const span: (typeof spans)[number] = {
      ...{ name, title: spanTitle(name, attributes), traceId, spanId, parentId },
      ...{ attributes: { ...SPANS[name].fixed, ...given(name, attributes) }, error: undefined, isEnded: false },
    }
    spans.push(span)
    return {
      traceparent: `00-${traceId}-${spanId}-01`,
      start: (below, more) => start(below, more, { traceId, spanId }),
      within: (fn) => fn(),
      end({ error, attributes: last = {} }: SpanEnd = {}) {
        if (span.isEnded) return
        const failure = error === undefined ? {} : { 'error.type': error }
        span.attributes = { ...span.attributes, ...given(name, { ...last, ...failure }) }
        span.error = error
        span.isEnded = true
        ended.push(span)
      },
    }
  }

  return {
    spans,
    ended,
    isEnabled: true,
    start(name, attributes, traceparent) {
      const [, traceId, spanId] = TRACEPARENT.exec(traceparent ?? '') ?? []
      return start(name, attributes, traceId === undefined ? { traceId: newId(32), spanId } : { traceId, spanId })
    },
    flush: async () => undefined,
  }
}

function given(name: SpanName, attributes: SpanAttributes): SpanAttributes {
  const known: readonly string[] = SPANS[name].attributes
  const entries = Object.entries(attributes).filter(([, value]) => value !== undefined)
  const foreign = entries.find(([attribute]) => !known.includes(attribute))
  if (foreign !== undefined) throw new Error(`a span ${name} has no attribute ${foreign[0]}`)
  return Object.fromEntries(entries)
}
