import type { EventType } from '@perdure/protocol'
import { isChunk, textOf } from '../model-parts/stream-part.ts'
import { type OpenCalls, openCalls } from './open-calls.ts'
import { RECORDING_FORMAT, type RecordedRun, type RecordedUsage, type RunRecording } from './recording.ts'

export * from './kept-case.ts'
export * from './observed-runs.ts'
export type * from './recording.ts'
export { RECORDING_FORMAT } from './recording.ts'

type Fields = Readonly<Record<string, unknown>>

/** An event of the log; `at` is a time in RFC 3339. */
export interface RecordedEvent {
  readonly type: string
  readonly payload: unknown
  readonly at?: string | undefined
}

/** Makes a recording from the events of a run, in their order. */
export function recordingOf(run: RecordedRun, events: Iterable<RecordedEvent>): RunRecording {
  const { read, finish } = startRecording()
  for (const event of events) read(event)
  return finish(run)
}

/** Makes a recording from events that are read one by one, in their order, and not kept. */
export function startRecording() {
  const calls = openCalls()
  return {
    read({ type, payload, at }: RecordedEvent): void {
      READERS[type]?.(calls, isChunk(payload) ? payload : {}, at)
    },
    finish: (run: RecordedRun): RunRecording => ({ format: RECORDING_FORMAT, run, calls: calls.recorded() }),
  }
}

type Reader = (calls: OpenCalls, payload: Fields, at: string | undefined) => void

const appended =
  (of: 'text' | 'reasoning'): Reader =>
  (calls, { messageId, blockId, delta }) =>
    calls.append(of, { messageId: textOf(messageId), blockId: String(blockId ?? messageId), delta: String(delta) })

const withdrawn: Reader = (calls, { blockId, messageId }) => calls.withdraw(String(blockId ?? messageId))

const decided =
  (decision?: 'expired'): Reader =>
  (calls, payload, endedAt) => {
    const { name, toolCallId, toolName, reason, by } = payload
    calls.decide({
      name: String(name ?? toolName),
      decision: decision ?? (payload.decision === 'approved' ? 'approved' : 'denied'),
      ...texts({ toolCallId, reason, by, endedAt }),
    })
  }

const READERS: Readonly<Record<string, Reader>> = {
  'step.start': (calls, { seq, step, request }, at) => calls.start(Number(seq), String(step), { request, at }),
  'step.end': (calls, { seq, finishReason }, at) => calls.end(Number(seq), { finishReason: textOf(finishReason), at }),
  'step.error': (calls, { seq, willRetry }) => willRetry !== true && calls.fail(Number(seq)),
  'text.start': withdrawn,
  'text.delta': appended('text'),
  'reasoning.start': withdrawn,
  'reasoning.delta': appended('reasoning'),
  'tool.call.end': (calls, { toolCallId, toolName, args }) =>
    calls.answer({ toolCallId: String(toolCallId), toolName: String(toolName), args: args ?? null }),
  'tool.result': (calls, { toolCallId, result, preliminary }) =>
    preliminary !== true && calls.provided(String(toolCallId), result ?? null),
  'part.source': (calls, { url, title, sourceId }) =>
    typeof url === 'string' && calls.answer({ url, ...texts({ title, sourceId }) }),
  'part.file': (calls, { mediaType, data }) =>
    typeof data === 'string' && calls.answer({ mediaType: String(mediaType), data }),
  usage: (calls, payload) => calls.use({ ...usageOf(payload), ...cachedOf(payload) }),
  'tool.execute.start': (calls, { toolCallId, toolName, args, idempotencyKey }) =>
    calls.execute(String(toolCallId), {
      seq: Number(String(idempotencyKey).split('.').at(-1)),
      ...{ toolName: String(toolName), args: args ?? null },
    }),
  'tool.execute.end': (calls, { toolCallId, result, isResultInFile }, at) =>
    calls.executed(String(toolCallId), {
      result: result ?? null,
      ...(isResultInFile === true ? { isResultInFile } : {}),
      ...texts({ endedAt: at }),
    }),
  'tool.execute.error': (calls, { toolCallId, error }, at) => {
    const { kind, message } = isChunk(error) ? error : {}
    calls.executed(String(toolCallId), {
      error: { kind: String(kind), message: String(message) },
      ...texts({ endedAt: at }),
    })
  },
  'approval.resolved': decided(),
  'approval.expired': decided('expired'),
} satisfies Partial<Record<EventType, Reader>>

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)

const usageOf = ({ inputTokens, outputTokens, costUsd }: Fields): RecordedUsage => ({
  inputTokens: numberOf(inputTokens),
  outputTokens: numberOf(outputTokens),
  costUsd: numberOf(costUsd),
})

const cachedOf = ({ cachedInputTokens }: Fields) => (typeof cachedInputTokens === 'number' ? { cachedInputTokens } : {})

/** The members that are texts. */
const texts = <Name extends string>(members: Readonly<Record<Name, unknown>>): Partial<Record<Name, string>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === 'string')) as Partial<
    Record<Name, string>
  >
