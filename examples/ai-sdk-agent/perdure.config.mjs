import { isStepCount, jsonSchema, streamText, tool } from 'ai'
import { model } from './model.mjs'

const City = jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })

/** The tools of a run. `ctx.tool` emits the events of each call, records its outcome and counts it in the metrics. */
const toolsOf = (ctx) => ({
  weather: tool({
    description: 'Returns the weather in a city.',
    inputSchema: City,
    async execute(args) {
      const outcome = await ctx.tool({ name: 'weather', args, execute: ({ city }) => ({ city, celsius: 4 }) })
      return outcome.ok ? outcome.value : { error: outcome.error.message }
    },
  }),
})

export default {
  agents: [
    {
      id: 'weather',
      description: 'Answers questions about the weather.',
      agent: {
        id: 'weather',
        async run({ question }, ctx) {
          const result = streamText({
            model,
            prompt: question,
            tools: toolsOf(ctx),
            stopWhen: isStepCount(5),
            abortSignal: ctx.signal,
          })
          for await (const delta of result.textStream) ctx.emit('text.delta', { messageId: ctx.runId, delta })
          const { inputTokens, outputTokens } = await result.totalUsage
          await ctx.usage({ provider: model.provider, model: model.modelId, inputTokens, outputTokens })
          return { answer: await result.text }
        },
      },
    },
  ],
}
