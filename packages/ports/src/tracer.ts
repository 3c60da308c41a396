import type { SpanAttributes, SpanAttributesOf, SpanName } from '@perdure/protocol'

/** How a span ends. */
export interface SpanEnd {
  /** Code or kind of the error, never its message; sets the span status to error. */
  readonly error?: string | undefined
  readonly attributes?: SpanAttributes | undefined
}

/** An operation in a trace. */
export interface Span {
  /**
   * W3C `traceparent` of this span, to store or propagate. If this span is not recorded, the `traceparent` of its
   * parent; `undefined` when there is nothing to propagate.
   */
  readonly traceparent: string | undefined
  /** Starts a child span. */
  start<Name extends SpanName>(name: Name, attributes: SpanAttributesOf<Name>): Span
  /** Calls `fn` with this span as the active span, which instrumentation inside `fn` uses as the parent. */
  within<T>(fn: () => T): T
  /** Ends the span now; only the first call has an effect. */
  end(end?: SpanEnd): void
}

/**
 * Port. Creates the spans of the `SPANS` table; never throws, whatever the tracing system does. Must pass
 * `tracerContract`.
 */
export interface Tracer {
  /** Whether spans have any effect. When false, hot paths should create neither spans nor attributes. */
  readonly isEnabled: boolean
  /**
   * Starts a child of the span that a stored or received `traceparent` names. Without a `traceparent`, or with a
   * malformed one, starts a new trace. A span of kind `server` prefers the active span as its parent, if there is one.
   */
  start<Name extends SpanName>(name: Name, attributes: SpanAttributesOf<Name>, traceparent: string | undefined): Span
  /** Flushes buffered spans. Resolves when they are exported or the export has failed. */
  flush(): Promise<void>
}

/** A span that records nothing. */
export const noSpan: Span = {
  traceparent: undefined,
  start: () => noSpan,
  within: (fn) => fn(),
  end: () => undefined,
}

/** A tracer that records nothing. */
export const noTracer: Tracer = {
  isEnabled: false,
  start: () => noSpan,
  flush: () => Promise.resolve(),
}
