import { noSpan, type RunRecord, type Span } from '@perdure/ports'
import { toRunError } from '../runs/run-error.ts'
import { callAttributes } from './model-span.ts'

export interface TracedAttempt {
  readonly kind: 'step' | 'tool' | 'model'
  readonly model?: Parameters<typeof callAttributes>[0] | undefined
  readonly name: string
  readonly seq: number
  readonly attempt: number // attempt of the step in this process
}

/** Starts the span of one attempt, as a child of the execution span. */
export function startStepSpan(
  { span, run }: { readonly span: Span; readonly run: Pick<RunRecord, 'id' | 'sessionId'> },
  { kind, name, seq, attempt, model }: TracedAttempt,
): Span {
  if (span === noSpan) return noSpan
  const own = { 'perdure.run.id': run.id, 'perdure.step.seq': seq, 'perdure.step.attempt': attempt }
  if (kind === 'model') {
    const conversation = { 'gen_ai.conversation.id': run.sessionId }
    return span.start('model', { ...own, ...conversation, 'perdure.step.name': name, ...callAttributes(model ?? {}) })
  }
  return kind === 'tool'
    ? span.start('tool', { ...own, 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': `${run.id}.${seq}` })
    : span.start('step', { ...own, 'perdure.step.name': name })
}

/** Ends a span with the error class of the thrown value, never its message. */
export function failSpan(span: Span, thrown: unknown): void {
  if (span === noSpan) return
  span.end({ error: toRunError(thrown).code })
}
