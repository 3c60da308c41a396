import { defineAgent, defineConfig } from 'perdure'
import { z } from 'zod'

const hello = defineAgent({
  id: 'hello',
  description: 'Greets by name, word by word.',
  input: z.object({ name: z.string() }),
  async run({ name }, ctx) {
    const greeting = `Hello ${name}, this is run ${ctx.runId}.`
    for (const word of greeting.split(/(?<=\s)/)) await ctx.text(word)
    return { greeting }
  },
})

export default defineConfig({ agents: [hello] })
