import { durableModel, durableTool } from '@perdure/ai-sdk'
import { isStepCount, streamText, tool } from 'ai'
import { defineAgent, defineConfig } from 'perdure'
import { z } from 'zod'
import { model } from './model.ts'

const lookUp = tool({
  description: 'Returns the weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: 4 }),
})

const weather = defineAgent({
  id: 'weather',
  description: 'Answers questions about the weather.',
  input: z.object({ question: z.string() }),
  run: ({ question }, ctx) =>
    streamText({
      model: durableModel(ctx, model),
      prompt: question,
      tools: { weather: durableTool(ctx, 'weather', lookUp) },
      stopWhen: isStepCount(5),
      abortSignal: ctx.signal,
    }),
})

export default defineConfig({ agents: [weather] })
