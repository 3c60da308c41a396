import type { FindRun } from '../run.ts'
import { isObject } from '../sdk.ts'
import type { CallOptions, EmbeddingModelLike, Part } from './model.ts'
import { countedCall } from './model-calls.ts'
import { withModelRetries } from './model-retry.ts'

/** An embedding model whose calls are durable steps, and whose usage counts for the run. */
export function durableEmbedding(
  find: FindRun,
  model: EmbeddingModelLike,
  { maxRetries }: { readonly maxRetries: number },
): EmbeddingModelLike {
  const doEmbed = async (call: CallOptions): Promise<Part> => {
    const { ctx, isInsideCall } = find()
    const embed = async (signal: AbortSignal | undefined) => {
      const abortSignal = signal === undefined ? call.abortSignal : signal
      const ask = () => countedCall(() => model.doEmbed({ ...call, abortSignal }))
      const { response: _, ...embedded } = await withModelRetries(ask, { maxRetries, signal: signal ?? ctx.signal })
      const tokens = isObject(embedded.usage) ? embedded.usage.tokens : undefined
      if (typeof tokens === 'number') {
        await ctx.usage({ provider: model.provider, model: model.modelId, inputTokens: tokens, outputTokens: 0 })
      }
      return embedded
    }
    if (isInsideCall) return embed(call.abortSignal)
    const recorded = await ctx.step('embed', ({ signal }) =>
      embed(call.abortSignal === undefined ? signal : AbortSignal.any([call.abortSignal, signal])),
    )
    return recorded as Part
  }
  return new Proxy(model, {
    get: (target, member) => (member === 'doEmbed' ? doEmbed : Reflect.get(target, member, target)),
  })
}
