import type { FindRun } from '../run.ts'
import { isObject } from '../sdk.ts'
import { signalOfTry } from './linked-signal.ts'
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
      return embedded
    }
    const { provider, modelId } = model
    const chargeOf = (embedded: Part) => {
      const inputTokens = tokensIn(embedded)
      return inputTokens === undefined ? undefined : { provider, model: modelId, inputTokens, outputTokens: 0 }
    }
    if (isInsideCall) {
      const embedded = await embed(call.abortSignal)
      const charge = chargeOf(embedded)
      if (charge !== undefined) await ctx.usage(charge)
      return embedded
    }
    const recorded = await ctx.step(
      'embed',
      async ({ signal, modelAnswered }) => {
        const embedded = await embed(signalOfTry(ctx.signal, call.abortSignal, signal))
        const charge = chargeOf(embedded)
        if (charge !== undefined) modelAnswered({ usage: charge, charge })
        return embedded
      },
      { model: { provider, model: modelId, operation: 'embeddings', input: call.values } },
    )
    return recorded as Part
  }
  return new Proxy(model, {
    get: (target, member) => (member === 'doEmbed' ? doEmbed : Reflect.get(target, member, target)),
  })
}

const tokensIn = ({ usage }: Part): number | undefined =>
  isObject(usage) && typeof usage.tokens === 'number' ? usage.tokens : undefined
