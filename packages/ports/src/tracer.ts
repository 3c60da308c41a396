import type { SpanAttributes, SpanAttributesOf, SpanName } from '@perdure/protocol'

/** How a span ends. */
export interface SpanEnd {
  /** Code or kind of what went wrong: the status of the span is an error then. Never the words of an error. */
  readonly error?: string | undefined
  readonly attributes?: SpanAttributes | undefined
}

/** A piece of work in a trace. */
export interface Span {
  /**
   * Its place in the trace, as a W3C `traceparent`: to be stored, or handed on. That of what it is below when nobody
   * records; `undefined` when there is nothing to hand on.
   */
  readonly traceparent: string | undefined
  /** Starts a span below this one. */
  start<Name extends SpanName>(name: Name, attributes: SpanAttributesOf<Name>): Span
  /** Calls `fn`, for whose own instrumentation this is the span at work. */
  within<T>(fn: () => T): T
  /** Ends it now; only the first end counts. */
  end(end?: SpanEnd): void
}

/** Port. Makes the spans of the table; never throws, whatever the tracing system does. Passes `tracerContract`. */
export interface Tracer {
  /** Whether anything comes of spans. Who may be asked for many makes none, and no attributes, when it is false. */
  readonly isOn: boolean
  /**
   * Starts a span below the one that a stored or received `traceparent` names; without one, or with one that is
   * malformed, it is the first of its trace. A span of kind `server` is rather below the one at work, when there is one.
   */
  start<Name extends SpanName>(name: Name, attributes: SpanAttributesOf<Name>, traceparent: string | undefined): Span
  /** Hands over what is kept back. Resolves when that is done, or could not be. */
  flush(): Promise<void>
}

/** Of nothing. */
export const noSpan: Span = {
  traceparent: undefined,
  start: () => noSpan,
  within: (fn) => fn(),
  end: () => undefined,
}

/** Traces nothing. */
export const noTracer: Tracer = {
  isOn: false,
  start: () => noSpan,
  flush: () => Promise.resolve(),
}
