import {
  answersIn,
  createReadChunk,
  createStreamWriter,
  type RunContext,
  type StepContext,
  type ToolDeclaration,
} from '@perdure/core'
import type { ModelName, Part } from './model.ts'

interface LogOptions {
  readonly messageId: string
  readonly form: 'whole' | 'streamed'
  /** Whether text and reasoning are left to the stream that the run returns. */
  readonly withoutText: boolean
  /** How the agent declares a tool. */
  readonly toolOf: (name: string) => ToolDeclaration | undefined
}

/** Writes the answer of a model to the log of the run while it comes, and reports its usage at the end. */
export function createAnswerLog(ctx: RunContext, { messageId, form, withoutText, toolOf }: LogOptions) {
  const read = createReadChunk()
  const writer = createStreamWriter(messageId, (type, payload) => ctx.emit(type, payload))
  const answer = answersIn(ctx).begin(form)
  return {
    write(part: Part): void {
      // A part that reports an error is the SDK's to handle; the answer is not recorded then.
      for (const one of read(part)) {
        if (withoutText && (one.kind === 'delta' || one.kind === 'block')) continue
        const isCall = one.kind === 'tool-start' || one.kind === 'tool-call'
        writer.write(isCall ? { ...one, tool: toolOf(one.name) } : one)
        answer.note(one)
      }
    },
    async end({ provider, modelId }: ModelName, modelAnswered: StepContext['modelAnswered']): Promise<void> {
      writer.end()
      await writer.flush()
      const { text, toolCalls, ...told } = writer.summary()
      const parts = [{ type: 'text', text }, ...toolCalls.map((call) => ({ type: 'tool-call', ...call }))]
      modelAnswered({ ...told, output: { role: 'assistant', parts, finishReason: told.finishReason } })
      const { usage } = told
      if (usage !== undefined) await ctx.usage({ provider, model: modelId, ...usage })
    },
  }
}

/** Notes an answer that is in the log already, because an earlier execution wrote it. */
export function noteAnswer(
  ctx: RunContext,
  parts: readonly Part[],
  { form, withoutText }: Pick<LogOptions, 'form' | 'withoutText'>,
): void {
  const read = createReadChunk()
  const answer = answersIn(ctx).begin(form)
  for (const part of parts) {
    for (const one of read(part)) if (!withoutText || one.kind !== 'delta') answer.note(one)
  }
}
