import { defineAgent } from 'perdure'
import { z } from 'zod'
import { ask } from '../model.ts'

/** Advises on a refund. The model is asked once, even if the server crashes. */
export const assess = defineAgent({
  id: 'assess',
  input: z.object({ reason: z.string() }),
  output: z.object({ advice: z.string() }),
  run: async ({ reason }, ctx) => ({
    advice: await ctx.step('ask', () => ask(`Should we accept this reason for a refund? ${reason}`)),
  }),
})
