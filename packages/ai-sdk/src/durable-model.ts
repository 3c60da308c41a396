import type { RunContext } from '@perdure/core'
import { createAnswerLog, type ModelName, type Part } from './answer-log.ts'
import { addPart, marked, recordable, revived } from './recorded-parts.ts'
import type { ModelContext } from './run-context.ts'

/** A language model of the AI SDK, version 6 or 7. */
export interface ModelLike extends ModelName {
  readonly specificationVersion: string
  // biome-ignore lint/suspicious/noExplicitAny: each version of the AI SDK has types of its own
  doGenerate(options: any): PromiseLike<any>
  // biome-ignore lint/suspicious/noExplicitAny: see above
  doStream(options: any): PromiseLike<any>
}

type StepOptions = NonNullable<Parameters<RunContext['step']>[2]>

export interface DurableModelOptions extends Pick<StepOptions, 'timeout' | 'retries' | 'recoveries' | 'onCrash'> {
  /** The name of the steps. Default: `model`. */
  readonly name?: string
}

/**
 * A model whose answers are durable: each call is a step, so that an answer is paid for once and read back after a wait or
 * a crash. What the model says is shown while it comes, and its usage counts for the run. Tool calls of a streamed answer
 * reach the SDK once the answer is recorded.
 */
export function durableModel<Model extends ModelLike>(
  ctx: ModelContext,
  model: Model,
  { name = 'model', ...options }: DurableModelOptions = {},
): Model {
  if (typeof model !== 'object') throw new TypeError('durableModel needs a model object, such as openai("gpt-5-mini")')
  const durable: Partial<ModelLike> = {
    doGenerate: (call: CallOptions) => generate({ ctx, model, name, options }, call),
    doStream: async (call: CallOptions) => ({ stream: stream({ ctx, model, name, options }, call) }),
  }
  return new Proxy(model, {
    get: (target, member) =>
      member in durable ? durable[member as keyof ModelLike] : Reflect.get(target, member, target),
  })
}

interface Durable {
  readonly ctx: ModelContext
  readonly model: ModelLike
  readonly name: string
  readonly options: StepOptions
}

interface CallOptions {
  readonly abortSignal?: AbortSignal
}

interface Generated extends Part {
  readonly content: readonly Part[]
}

async function generate({ ctx, model, name, options }: Durable, call: CallOptions): Promise<Generated> {
  const answer = await ctx.step(
    name,
    async ({ idempotencyKey, signal }) => {
      const generated = (await model.doGenerate(within(call, signal))) as Generated
      const log = createAnswerLog(ctx, idempotencyKey)
      for (const part of generated.content) log.write(asPart(part))
      log.write({ type: 'finish', ...generated })
      await log.end(model)
      const { request: _, response, ...rest } = generated
      return recordable({ ...rest, response: withoutBody(response as Part | undefined) }) as Generated
    },
    options,
  )
  const { response } = answer
  return response === undefined ? answer : { ...answer, response: revived(response as Part) }
}

/** Whole text and reasoning, as the delta of a stream. */
function asPart({ type, text, ...part }: Part): Part {
  return type === 'text' || type === 'reasoning' ? { ...part, type: `${type}-delta`, delta: text } : { ...part, type }
}

const withoutBody = (response: Part | undefined): Part | undefined => {
  if (response === undefined) return undefined
  const { body: _, ...rest } = response
  return rest
}

/** The call also stops when its try times out or the run is aborted. */
const within = (call: CallOptions, signal: AbortSignal): CallOptions => ({
  ...call,
  abortSignal: call.abortSignal === undefined ? signal : AbortSignal.any([call.abortSignal, signal]),
})

/** From the first of these parts on, the SDK acts on the answer. */
const DECISIVE: ReadonlySet<unknown> = new Set(['tool-call', 'finish'])

function stream({ ctx, model, name, options }: Durable, call: CallOptions): ReadableStream<Part> {
  let sent = 0
  return new ReadableStream<Part>({
    start(controller) {
      const recording = ctx.step(
        name,
        async ({ idempotencyKey, signal }) => {
          const { stream: source } = (await model.doStream(within(call, signal))) as {
            readonly stream: AsyncIterable<Part>
          }
          const log = createAnswerLog(ctx, idempotencyKey)
          const parts: Part[] = []
          let isDecided = false
          for await (const given of source) {
            if (signal.aborted) throw signal.reason
            if (given.type === 'raw') continue
            const part = recordable(given) as Part
            log.write(part)
            addPart(parts, part)
            isDecided ||= DECISIVE.has(part.type)
            if (isDecided) continue
            controller.enqueue(marked(revived(given)))
            sent = parts.length
          }
          await log.end(model)
          return parts
        },
        options,
      )
      recording.then(
        (parts) => {
          for (const part of parts.slice(sent)) controller.enqueue(marked(revived(part)))
          controller.close()
        },
        (error: unknown) => controller.error(error),
      )
    },
  })
}
