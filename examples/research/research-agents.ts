import { Output, stepCountIs, tool } from 'ai'
import { defineAgent } from 'perdure'
import { durable } from 'perdure/ai-sdk'
import { z } from 'zod'
import { library } from './library.ts'
import { planner, reader, writer } from './models.ts'

const search = tool({
  description: 'Searches the library',
  inputSchema: z.object({ words: z.string() }),
  execute: ({ words }) => library.search(words),
})

/** Answers one question with what it finds. */
export const answer = defineAgent({
  id: 'answer',
  input: z.object({ question: z.string() }),
  output: z.object({ text: z.string() }),
  run: ({ question }, ctx) =>
    durable(ctx).generateText({ model: reader, tools: { search }, prompt: question, stopWhen: stepCountIs(5) }),
})

const Plan = Output.object({ schema: z.object({ questions: z.array(z.string()).max(5) }) })

/** Plans the questions, has a child run answer each of them at the same time, and writes a report. */
export const research = defineAgent({
  id: 'research',
  input: z.object({ topic: z.string() }),
  retries: 2,
  async run({ topic }, ctx) {
    const ai = durable(ctx)
    const plan = await ai.generateText({ model: planner, output: Plan, prompt: `Which questions matter for ${topic}?` })
    const answers = await Promise.all(plan.output.questions.map((question) => ctx.invoke(answer, { question })))
    const notes = answers.map(({ text }) => `- ${text}`).join('\n')
    return ai.streamText({ model: writer, prompt: `Write a report on ${topic} from these notes:\n${notes}` })
  },
})
