import { createReadChunk, type TokenUsage } from '@perdure/core'
import type { Run } from '../run.ts'
import type { ModelLike, ModelName, Part } from './model.ts'
import { isCountedCall } from './model-calls.ts'

/** A model inside a step or a tool, which is recorded as a whole: its usage still counts for the run. */
export function plainModel({ ctx }: Run, model: ModelLike): Pick<ModelLike, 'doGenerate' | 'doStream'> {
  const isCounted = isCountedCall()
  const report = async (usage: unknown) => {
    if (isCounted) return
    for (const tokens of tokensIn(usage)) await ctx.usage({ ...nameOf(model), ...tokens })
  }
  return {
    async doGenerate(call) {
      const generated = await model.doGenerate(call)
      await report(generated.usage)
      return generated
    },
    async doStream(call) {
      const { stream, ...rest } = await model.doStream(call)
      return { ...rest, stream: reported(stream, report) }
    },
  }
}

const reported = (source: AsyncIterable<Part>, report: (usage: unknown) => Promise<void>) =>
  ReadableStream.from(
    (async function* () {
      for await (const part of source) {
        if (part.type === 'finish') await report(part.usage)
        yield part
      }
    })(),
  )

const nameOf = ({ provider, modelId }: ModelName) => ({ provider, model: modelId })

const tokensIn = (usage: unknown): readonly TokenUsage[] =>
  createReadChunk()({ type: 'finish', usage }).flatMap((part) => (part.kind === 'usage' ? [part.usage] : []))
