import { defineAgent } from 'perdure'
import { z } from 'zod'
import { ask } from '../model.ts'

/** Tells a story. The model is asked once, even if the server crashes. */
export const story = defineAgent({
  id: 'story',
  input: z.object({ topic: z.string() }),
  output: z.object({ text: z.string() }),
  run: async ({ topic }, ctx) => ({ text: await ctx.step('ask', () => ask(topic)) }),
})
