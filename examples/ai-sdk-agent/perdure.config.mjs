import { durableModel, durableTool } from '@perdure/ai-sdk'
import { isStepCount, jsonSchema, streamText, tool } from 'ai'
import { model } from './model.mjs'

const weather = tool({
  description: 'Returns the weather in a city.',
  inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
  execute: ({ city }) => ({ city, celsius: 4 }),
})

export default {
  agents: [
    {
      id: 'weather',
      description: 'Answers questions about the weather.',
      onCrash: 'retry',
      agent: {
        id: 'weather',
        run: ({ question }, ctx) =>
          streamText({
            model: durableModel(ctx, model),
            prompt: question,
            tools: { weather: durableTool(ctx, 'weather', weather) },
            stopWhen: isStepCount(5),
            abortSignal: ctx.signal,
          }),
      },
    },
  ],
}
