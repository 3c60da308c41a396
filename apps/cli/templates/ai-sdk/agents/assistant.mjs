import { streamText } from 'ai'
import { model } from './model.mjs'

/** Streams the answer of the model. */
export const assistant = {
  id: 'assistant',
  description: 'Answers questions.',
  agent: {
    id: 'assistant',
    async run(input, ctx) {
      const prompt = typeof input === 'string' ? input : input.text
      const result = streamText({
        model,
        instructions: 'You answer in a few words.',
        prompt,
        abortSignal: ctx.signal,
      })
      for await (const delta of result.textStream) ctx.emit('text.delta', { messageId: ctx.runId, delta })
      const { inputTokens = 0, outputTokens = 0 } = await result.totalUsage
      const name = typeof model === 'string' ? model : model.modelId
      await ctx.usage({ provider: name.split('/')[0], model: name, inputTokens, outputTokens })
      return { text: await result.text }
    },
  },
}
