import { defineAgent } from 'perdure'
import { durable } from 'perdure/ai-sdk'
import { z } from 'zod'
import { helpdesk, lookUpOrder, model, refund, shorten } from './shop.ts'

export const summarize = defineAgent({
  id: 'summarize',
  input: z.object({ text: z.string() }),
  output: z.object({ summary: z.string() }),
  run: async ({ text }, ctx) => ({ summary: await ctx.step('summarize', () => shorten(text)) }),
})

export const triage = defineAgent({
  id: 'triage',
  input: z.object({ ticket: z.string() }),
  retries: 3,
  async run({ ticket }, ctx) {
    const ai = durable(ctx)
    const { text } = await ai.generateText({ model, tools: { lookUpOrder, refund }, prompt: ticket })
    await ctx.sleep('cool off', '1d')
    const { summary } = await ctx.invoke(summarize, { text })
    await ctx.step('close', ({ idempotencyKey }) => helpdesk.close(ticket, { idempotencyKey }), { retries: 5 })
    return { summary }
  },
})
