import { type RecordedCall, type RecordedPart, type RunRecording, redactContent } from '@perdure/core'

/** The recording with credentials, keys, connection strings and e-mail addresses redacted in all of its texts. */
export const redacted = (recording: RunRecording): RunRecording => redactContent(recording) as RunRecording

/** The recording without what people, models and tools said: only the names, kinds, order and times of its calls. */
export function withoutContent({ format, run, calls }: RunRecording): RunRecording {
  const { result: _, error: __, ...head } = run
  return { format, isWithoutContent: true, run: { ...head, input: null }, calls: calls.map(callWithoutContent) }
}

function callWithoutContent(call: RecordedCall): RecordedCall {
  if (call.kind === 'model') return { ...call, answer: call.answer.map(partWithoutContent) }
  if (call.kind === 'decision') {
    const { reason: _, ...rest } = call
    return rest
  }
  const { result, error, ...rest } = call
  return {
    ...rest,
    args: null,
    ...(result === undefined ? {} : { result: null }),
    ...(error === undefined ? {} : { error: { kind: error.kind, message: '' } }),
  }
}

function partWithoutContent(part: RecordedPart): RecordedPart {
  if ('text' in part) return { text: '' }
  if ('reasoning' in part) return { reasoning: '' }
  if ('toolName' in part) return { ...part, args: null }
  if ('result' in part) return { ...part, result: null }
  return 'url' in part ? { url: '' } : { ...part, data: '' }
}
