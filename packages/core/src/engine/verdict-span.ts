import type { RunUsage, Span } from '@perdure/ports'
import { endRunSpan, suspendRunSpan } from '../tracing/run-span.ts'
import type { Verdict } from './execution.ts'

/** Ends the span of an execution. */
export function endSpan(span: Span, verdict: Verdict, usage: RunUsage): void {
  if (verdict.kind === 'end') endRunSpan(span, { ...verdict.end, usage })
  else suspendRunSpan(span)
}
