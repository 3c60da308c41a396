import { noSpan, type RunRecord, type Span, type Tracer } from '@perdure/ports'

/**
 * Starts the span of one execution, in the trace under which the run was started. Executions after a crash continue the
 * same trace.
 */
export function startRunSpan(tracer: Tracer, run: RunRecord): Span {
  if (!tracer.isEnabled) return noSpan
  const { id, kind, targetId, attempt, sessionId, traceparent } = run
  const own = { 'perdure.run.id': id, 'perdure.run.attempt': attempt, 'gen_ai.conversation.id': sessionId }
  return kind === 'agent'
    ? tracer.start('run.agent', { ...own, 'gen_ai.agent.id': targetId, 'gen_ai.agent.name': targetId }, traceparent)
    : tracer.start('run.workflow', { ...own, 'gen_ai.workflow.name': targetId }, traceparent)
}

/** Ends the span with the outcome of the execution. Only a failure is a span error, not an abort or a suspension. */
export function endRunSpan(
  span: Span,
  end: Partial<Pick<RunRecord, 'status' | 'finishReason' | 'error' | 'usage'>>,
): void {
  if (span === noSpan) return
  const { status, finishReason, error, usage } = end
  span.end({
    error: status === 'failed' ? (error?.code ?? finishReason) : undefined,
    attributes: {
      'perdure.run.status': status,
      'perdure.run.finish_reason': finishReason,
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
    },
  })
}

/** Ends the span of a run that suspends; its next execution has its own span. */
export function suspendRunSpan(span: Span): void {
  if (span !== noSpan) span.end({ attributes: { 'perdure.run.status': 'suspended' } })
}

/** Ends the span of an aborted execution, without usage: the code that ended the run reports the usage. */
export function abandonRunSpan(span: Span, signal: AbortSignal): void {
  if (span === noSpan) return
  const reason = signal.aborted ? String(signal.reason) : undefined
  span.end({
    error: reason === 'timeout' || reason === 'budget-exhausted' ? reason : undefined,
    attributes: { 'perdure.run.status': 'aborted', 'perdure.run.finish_reason': reason },
  })
}
