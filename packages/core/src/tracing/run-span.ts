import { noSpan, type RunRecord, type Span, type Tracer } from '@perdure/ports'

/** The span of one execution, in the trace of whoever has started the run; the same trace after a crash. */
export function startRunSpan(tracer: Tracer, run: RunRecord): Span {
  if (!tracer.isEnabled) return noSpan
  const { id, kind, targetId, attempt, sessionId, traceparent } = run
  const own = { 'perdure.run.id': id, 'perdure.run.attempt': attempt, 'gen_ai.conversation.id': sessionId }
  return kind === 'agent'
    ? tracer.start('run.agent', { ...own, 'gen_ai.agent.id': targetId, 'gen_ai.agent.name': targetId }, traceparent)
    : tracer.start('run.workflow', { ...own, 'gen_ai.workflow.name': targetId }, traceparent)
}

/** What the execution came to; a failure is an error of the span, being aborted or suspended is none. */
export function endRunSpan(
  span: Span,
  end: Partial<Pick<RunRecord, 'status' | 'finishReason' | 'error' | 'usage'>>,
): void {
  if (span === noSpan) return
  const { status, finishReason, error, usage } = end
  span.end({
    error: status === 'failed' ? (error?.code ?? error?.kind ?? finishReason) : undefined,
    attributes: {
      'perdure.run.status': status,
      'perdure.run.finish_reason': finishReason,
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
    },
  })
}

/** The run waits: it is executed again, under a span of its own. */
export function suspendRunSpan(span: Span): void {
  if (span !== noSpan) span.end({ attributes: { 'perdure.run.status': 'suspended' } })
}

/** The run was taken away from its code. What it had used is told by whoever has ended it. */
export function leaveRunSpan(span: Span, signal: AbortSignal): void {
  if (span === noSpan) return
  const reason = signal.aborted ? String(signal.reason) : undefined
  span.end({
    error: reason === 'timeout' || reason === 'budget-exhausted' ? reason : undefined,
    attributes: { 'perdure.run.status': 'aborted', 'perdure.run.finish_reason': reason },
  })
}
