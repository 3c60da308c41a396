import { noSpan, type RunRecord, type Span } from '@perdure/ports'
import { toRunError } from '../runs/run-error.ts'

export interface TracedTry {
  readonly kind: 'step' | 'tool'
  readonly name: string
  readonly seq: number
  readonly attempt: number // of the step in this process
}

/** The span of one try, below that of the execution. */
export function startStepSpan(
  { span, run }: { readonly span: Span; readonly run: Pick<RunRecord, 'id'> },
  { kind, name, seq, attempt }: TracedTry,
): Span {
  if (span === noSpan) return noSpan
  const own = { 'perdure.run.id': run.id, 'perdure.step.seq': seq, 'perdure.step.attempt': attempt }
  return kind === 'tool'
    ? span.start('tool', { ...own, 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': `${run.id}.${seq}` })
    : span.start('step', { ...own, 'perdure.step.name': name })
}

/** Ends a span with the class of what was thrown, never its words. */
export function failSpan(span: Span, thrown: unknown): void {
  if (span === noSpan) return
  const { code, kind } = toRunError(thrown)
  span.end({ error: code ?? kind ?? 'error' })
}
