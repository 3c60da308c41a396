import {
  answersIn,
  createReadChunk,
  createStreamWriter,
  NO_FINISH,
  type RunContext,
  type StepContext,
  type StreamPart,
} from '@perdure/core'
import type { ToolDeclarations } from '../tools/declaration.ts'
import { noteCallIds } from './call-ids.ts'
import type { ModelName, Part } from './model.ts'

interface LogOptions {
  readonly messageId: string
  readonly form: 'whole' | 'streamed'
  /** Whether text and reasoning are left to the stream that the run returns. */
  readonly withoutText: boolean
  readonly declarations: ToolDeclarations
}

/** Writes the answer of a model to the log of the run while it comes, and reports its usage at the end. */
export function createAnswerLog(ctx: RunContext, { messageId, form, withoutText, declarations }: LogOptions) {
  const read = createReadChunk()
  const writer = createStreamWriter(messageId, (type, payload) => ctx.emit(type, payload))
  const answer = answersIn(ctx).begin(form)

  // A part that reports an error is the SDK's to handle; the answer is not recorded then.
  const writeOne = (one: StreamPart): void => {
    writer.write(one)
    answer.note(one)
  }
  const isShown = ({ kind }: StreamPart) => !(withoutText && (kind === 'delta' || kind === 'block'))
  const writeAll = (said: readonly StreamPart[]): undefined => {
    for (const one of said) {
      if (isShown(one)) writeOne(one.kind === 'tool-start' ? { ...one, tool: declarations.of(one.name) } : one)
    }
  }
  const writeCalls = async (said: readonly StreamPart[]): Promise<void> => {
    for (const one of said) {
      if (!isShown(one)) continue
      writeOne(one.kind === 'tool-call' ? { ...one, tool: await declarations.ofCall(one.name, one.args) } : one)
    }
  }

  return {
    /** Returns a promise only for a part that takes time, because most parts are single words. */
    write(part: Part): Promise<void> | undefined {
      const said = read(part)
      return said.some(isCall) ? writeCalls(said) : writeAll(said)
    },
    /** Resolves when the log has the answer; the record of the answer may be made before. */
    end({ provider, modelId }: ModelName, modelAnswered: StepContext['modelAnswered']): Promise<void> {
      writer.end()
      const written = writer.flush()
      const { text, toolCalls, finishReason = NO_FINISH, ...told } = writer.summary()
      const parts = [{ type: 'text', text }, ...toolCalls.map((call) => ({ type: 'tool-call', ...call }))]
      const charge = told.usage === undefined ? undefined : { provider, model: modelId, ...told.usage }
      modelAnswered({ ...told, finishReason, output: { role: 'assistant', parts, finishReason }, charge })
      return written
    },
  }
}

const isCall = ({ kind }: StreamPart): boolean => kind === 'tool-call'

/** Notes an answer that is in the log already, because an earlier execution wrote it. */
export function noteAnswer(
  ctx: RunContext,
  parts: readonly Part[],
  { form, withoutText }: Pick<LogOptions, 'form' | 'withoutText'>,
): void {
  noteCallIds(ctx, parts)
  const read = createReadChunk()
  const answer = answersIn(ctx).begin(form)
  for (const part of parts) {
    for (const one of read(part)) if (!withoutText || one.kind !== 'delta') answer.note(one)
  }
}
