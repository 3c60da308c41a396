import { describeRequest, type RunContext, type StepOptions } from '@perdure/core'
import { withMissingFiles } from '../agents/linked-files.ts'
import { type FindRun, hasEnded, type Run } from '../run.ts'
import type { ToolDeclarations } from '../tools/declaration.ts'
import { createAnswerLog, noteAnswer } from './answer-log.ts'
import { createCallIds } from './call-ids.ts'
import { type ChunkLimits, watchChunks } from './chunk-watch.ts'
import { signalOfTry } from './linked-signal.ts'
import type { CallOptions, Generated, ModelLike, Part } from './model.ts'
import { countedCall, markDurableCall } from './model-calls.ts'
import { withModelRetries } from './model-retry.ts'
import { plainModel } from './plain-model.ts'
import { recordable, revived } from './recorded-parts.ts'
import { relay } from './relay.ts'

export interface ModelSettings {
  readonly maxRetries: number
  /** Time limit for each answer. */
  readonly timeoutMs?: number | undefined
  /** Time limits within a streamed answer. */
  readonly chunks?: ChunkLimits | undefined
  /** Whether the stream that the run returns shows the text, because a transform changes it. */
  readonly withoutText: boolean
  readonly declarations: ToolDeclarations
}

const durableModels = new WeakSet<object>()

/**
 * A model whose answers are durable: each call is a step, so that an answer is paid for once and read back after a wait or
 * a crash. What the model says is shown while it comes, and its usage counts for the run. Tool calls of a streamed answer
 * reach the SDK once the answer is recorded.
 */
export function durableModel(find: FindRun, model: ModelLike, settings: ModelSettings): ModelLike {
  if (durableModels.has(model)) return model
  const asked: Given = { model, settings }
  const durable = {
    doGenerate: (given: CallOptions) => {
      const run = find()
      const call = withMissingFiles(given)
      markDurableCall()
      return run.isInsideCall ? plainModel(run, model).doGenerate(call) : generate(run, asked, call)
    },
    doStream: async (given: CallOptions) => {
      const run = find()
      const call = withMissingFiles(given)
      markDurableCall()
      return run.isInsideCall ? plainModel(run, model).doStream(call) : { stream: stream(run, asked, call) }
    },
  }
  const proxy = new Proxy(model, {
    get: (target, member) =>
      Object.hasOwn(durable, member) ? Reflect.get(durable, member) : Reflect.get(target, member, target),
  })
  durableModels.add(proxy)
  return proxy
}

interface Given {
  readonly model: ModelLike
  readonly settings: ModelSettings
}

/** The name of the steps. */
const STEP = 'model'

const stepOptions = ({ model, settings: { timeoutMs } }: Given, call: CallOptions): StepOptions => ({
  model: {
    ...{ provider: model.provider, model: model.modelId, input: call.prompt },
    request: describeRequest(model, call),
  },
  ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
})

async function generate({ ctx }: Run, given: Given, call: CallOptions): Promise<Generated> {
  const { model, settings } = given
  const { withoutText, maxRetries, declarations } = settings
  let written: Promise<void> | undefined
  const answer = (await ctx.step(
    STEP,
    async ({ idempotencyKey: messageId, signal, modelAnswered }) => {
      const ask = () => countedCall(() => model.doGenerate(within(ctx, call, signal)))
      const given = await withModelRetries(ask, { maxRetries, signal })
      const generated: Generated = { ...given, content: given.content.map(createCallIds(ctx, messageId)) }
      const log = createAnswerLog(ctx, { messageId, form: 'whole', withoutText, declarations })
      for (const part of partsOf(generated)) await log.write(part)
      written = log.end(model, modelAnswered)
      const { request: _, response, ...rest } = generated
      return recordable({ ...rest, response: withoutBody(response as Part | undefined) }) as Generated
    },
    stepOptions(given, call),
  )) as unknown as Generated
  if (written === undefined) noteAnswer(ctx, partsOf(answer), { form: 'whole', withoutText })
  else await written
  const { response, content } = answer
  const restored = { ...answer, content: content.map(revived) }
  return response === undefined ? restored : { ...restored, response: revived(response as Part) }
}

/** The answer as the parts of a stream. */
const partsOf = (generated: Generated): readonly Part[] => [
  ...generated.content.map(asDelta),
  { type: 'finish', finishReason: generated.finishReason, usage: generated.usage },
]

const asDelta = ({ type, text, ...part }: Part): Part =>
  type === 'text' || type === 'reasoning' ? { ...part, type: `${type}-delta`, delta: text } : { ...part, type }

const withoutBody = (response: Part | undefined): Part | undefined => {
  if (response === undefined) return undefined
  const { body: _, ...rest } = response
  return rest
}

/** The call also stops when its try times out or the run is aborted. */
const within = (ctx: RunContext, call: CallOptions, signal: AbortSignal): CallOptions => ({
  ...call,
  abortSignal: signalOfTry(ctx.signal, call.abortSignal, signal),
})

function stream({ ctx }: Run, given: Given, call: CallOptions): ReadableStream<Part> {
  const { model, settings } = given
  const { withoutText, maxRetries, declarations, chunks = {} } = settings
  return new ReadableStream<Part>({
    start(controller) {
      let live: { readonly sent: number; readonly written: Promise<void> } | undefined
      const recording = ctx.step(
        STEP,
        async ({ idempotencyKey: messageId, signal, progress, modelAnswered }) => {
          const watch = watchChunks(chunks, signal)
          const ask = () => countedCall(() => model.doStream(within(ctx, call, watch.signal)))
          const { stream: source } = await withModelRetries(ask, { maxRetries, signal })
          const log = createAnswerLog(ctx, { messageId, form: 'streamed', withoutText, declarations })
          const relayed = () =>
            relay(source, {
              ...{ signal: watch.signal, log },
              progress(part) {
                progress()
                watch.note(part)
              },
              withOwnIds: createCallIds(ctx, messageId),
              send: (part) => controller.enqueue(part),
            })
          const { parts, sent } = await watch.during(relayed)
          // One commit has the end of the log, the usage and the record of the answer.
          live = { sent, written: log.end(model, modelAnswered) }
          return parts
        },
        stepOptions(given, call),
      )
      const complete = async () => {
        const parts = (await recording) as readonly Part[]
        if (live === undefined) noteAnswer(ctx, parts, { form: 'streamed', withoutText })
        else await live.written
        for (const part of parts.slice(live?.sent ?? 0)) controller.enqueue(revived(part))
        controller.close()
      }
      complete().catch((error: unknown) => controller.error(hasEnded(ctx) ? abortError(ctx) : error))
    },
  })
}

/** Version 6 of the SDK tells an abort by the name of the error. */
const abortError = ({ signal }: RunContext) => new DOMException(`the run was ended: ${signal.reason}`, 'AbortError')
