import { stepCountIs, tool } from 'ai'
import { defineAgent, defineConfig } from 'perdure'
import { durable } from 'perdure/ai-sdk'
import { z } from 'zod'
import { model } from './model.ts'

const weather = tool({
  description: 'Returns the weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: 4 }),
})

const forecaster = defineAgent({
  id: 'weather',
  description: 'Answers questions about the weather.',
  input: z.object({ question: z.string() }),
  run: ({ question }, ctx) =>
    durable(ctx).streamText({ model, prompt: question, tools: { weather }, stopWhen: stepCountIs(5) }),
})

export default defineConfig({ agents: [forecaster] })
