import { setTimeout as pause } from 'node:timers/promises'
import { defineAgent } from 'perdure'
import { z } from 'zod'

export const slowEcho = defineAgent({
  id: 'slow-echo',
  description: 'Streams its input, one word at a time.',
  input: z.object({ text: z.string() }),
  async run({ text }, ctx) {
    for (const word of text.split(/(?<=\s)/)) {
      await ctx.text(word)
      await pause(200, undefined, { signal: ctx.signal })
    }
    return { text }
  },
})
