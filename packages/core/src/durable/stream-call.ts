import { definedMembers, perdureError } from '@perdure/ports'
import type { StreamPart } from '../model-parts/stream-part.ts'
import { isStreamSource, partsOf, type StreamSource } from '../model-parts/stream-source.ts'
import {
  createStreamWriter,
  type StreamSummary,
  type StreamWriter,
  type WrittenBlock,
} from '../model-parts/stream-writer.ts'
import type { CallScope } from './call-scope.ts'
import { refuseProblems } from './check-options.ts'
import { createLogFilter } from './log-filter.ts'
import type { StepContext, StepOptions } from './step.ts'
import { callStep } from './step-call.ts'

/** Calls a model and returns its stream. */
export type MakeStream = (call: StepContext) => StreamSource | PromiseLike<StreamSource>

export interface StreamOptions extends Omit<StepOptions, 'model'> {
  /** The provider of the model, for the usage of the run. Default: `unknown`. */
  readonly provider?: string
  /** The model, for the usage of the run. Default: the model that the stream names, else `unknown`. */
  readonly model?: string
  /** The messages for the model. Spans contain them only with `tracing.recordContent`. */
  readonly input?: unknown
}

/** `ctx.stream`: a durable step whose events are written as they come, and whose result is their summary. */
export async function callStream(
  scope: CallScope,
  name: string,
  { make, options }: { readonly make: MakeStream; readonly options: StreamOptions },
): Promise<StreamSummary> {
  refuseProblems('a stream', [
    typeof make === 'function' ? undefined : 'its second argument must be the function to call',
  ])
  const { provider, model, input, ...stepOptions } = options
  let earlier: readonly WrittenBlock[] = []
  return callStep<StreamSummary>(scope, name, {
    options: { ...stepOptions, model: { ...definedMembers({ provider, model }), input } },
    async fn(attempt) {
      const writer = createStreamWriter(attempt.idempotencyKey, (type, payload) => scope.journal.emit(type, payload))
      writer.begin(earlier)
      try {
        await drain(writer, await make(attempt), attempt)
      } finally {
        earlier = mostBlocks(earlier, writer.blocks())
      }
      const summary = writer.summary()
      attempt.modelAnswered({ ...summary, output: outputOf(summary) })
      await reportUsage(scope, summary, { provider, model })
      return summary
    },
  })
}

/**
 * Writes a stream that the code of a run returned or yielded, without what durable models have logged already. This is not a durable call, so that the loop of an SDK can
 * make durable calls while it streams.
 *
 * @param emit writes an event unless the run is replaying
 */
export async function writeStream(
  scope: CallScope,
  source: StreamSource,
  { messageId, emit }: { readonly messageId: string; readonly emit: (type: string, payload: unknown) => Promise<void> },
): Promise<StreamSummary> {
  const writer = createStreamWriter(messageId, emit)
  await drain(writer, source, { signal: scope.signal, progress: () => undefined, select: createLogFilter(scope) })
  const summary = writer.summary()
  if (!scope.ledger.isReplaying()) await reportUsage(scope, summary, {})
  return summary
}

/** Half the number of events that may be ahead of the log. */
const AHEAD = 128

interface Draining extends Pick<StepContext, 'signal' | 'progress'> {
  readonly select?: (part: StreamPart) => readonly StreamPart[]
}

async function drain(
  writer: StreamWriter,
  source: unknown,
  { signal, progress, select = (part) => [part] }: Draining,
): Promise<void> {
  if (!isStreamSource(source)) await partsOf(source).next()
  let half: Promise<void> | undefined
  let count = 0
  for await (const part of partsOf(source)) {
    if (signal.aborted) throw perdureError('step-failed', { message: 'the stream was aborted' })
    progress()
    for (const one of select(part)) writer.write(one)
    if (++count % AHEAD > 0) continue
    await half
    half = writer.flush()
  }
  writer.end()
  await writer.flush()
}

/** The message of the model, for its span. */
const outputOf = ({ text, reasoning, toolCalls, finishReason }: StreamSummary) => ({
  role: 'assistant',
  parts: [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...toolCalls.map((call) => ({ type: 'tool-call', ...call })),
  ],
  finishReason,
})

const mostBlocks = (one: readonly WrittenBlock[], other: readonly WrittenBlock[]) =>
  one.length > other.length ? one : other

async function reportUsage(
  scope: CallScope,
  { usage, model: streamed }: StreamSummary,
  {
    provider = 'unknown',
    model = streamed ?? 'unknown',
  }: { readonly provider?: string | undefined; readonly model?: string | undefined },
): Promise<void> {
  if (usage !== undefined) await scope.budget.add({ provider, model: model.slice(0, 128), ...usage })
}
