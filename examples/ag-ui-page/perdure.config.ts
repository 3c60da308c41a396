import { defineAgent, defineConfig, type RunContext } from 'perdure'
import { z } from 'zod'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function say(ctx: RunContext, text: string) {
  for (const word of text.split(/(?<= )/)) {
    await ctx.text(word)
    await pause(60) // as slow as a model
  }
}

const clerk = defineAgent({
  id: 'clerk',
  description: 'Answers, and asks before it orders something.',
  input: z.looseObject({ text: z.string() }), // loose: it also holds the messages and tools of the page
  async run({ text }, ctx) {
    await say(ctx, `You wrote: ${text}. `)
    if (text.includes('color')) {
      const picked = await ctx.clientTool({ name: 'pickColor', args: { of: ['red', 'blue'] } })
      await say(ctx, picked.ok ? `You picked ${picked.value}. ` : 'You picked nothing. ')
    }
    if (text.includes('order')) {
      const ordered = await ctx.tool({
        name: 'order',
        args: { what: text },
        approval: { title: 'Place the order?' },
        execute: ({ what }) => ({ number: 17, what }),
      })
      await say(ctx, ordered.ok ? `This is order ${ordered.value.number}.` : 'Nothing is ordered.')
    }
  },
})

export default defineConfig({ agents: [clerk] })
