import { noSpan, type RunRecord, type Span } from '@perdure/ports'
import { toRunError } from '../runs/run-error.ts'

export interface TracedAttempt {
  readonly kind: 'step' | 'tool'
  readonly name: string
  readonly seq: number
  readonly attempt: number // attempt of the step in this process
}

/** Starts the span of one attempt, as a child of the execution span. */
export function startStepSpan(
  { span, run }: { readonly span: Span; readonly run: Pick<RunRecord, 'id'> },
  { kind, name, seq, attempt }: TracedAttempt,
): Span {
  if (span === noSpan) return noSpan
  const own = { 'perdure.run.id': run.id, 'perdure.step.seq': seq, 'perdure.step.attempt': attempt }
  return kind === 'tool'
    ? span.start('tool', { ...own, 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': `${run.id}.${seq}` })
    : span.start('step', { ...own, 'perdure.step.name': name })
}

/** Ends a span with the error class of the thrown value, never its message. */
export function failSpan(span: Span, thrown: unknown): void {
  if (span === noSpan) return
  span.end({ error: toRunError(thrown).code })
}
