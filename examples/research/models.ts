import { scriptedModel } from 'perdure/ai-sdk/testing'
import { z } from 'zod'

const Found = z.array(z.object({ title: z.string(), text: z.string() }))

// Scripts in place of models. To use a real one: npm install @ai-sdk/openai, then for each of the three
// export const planner = openai('gpt-5-mini')

export const planner = scriptedModel([
  JSON.stringify({ questions: ['Which plant does tea come from?', 'How hot is it brewed?'] }),
])

export const reader = scriptedModel(({ text, toolResults: [result] }) => {
  if (result === undefined) return { toolName: 'search', input: { words: text } }
  return Found.parse(result.output)
    .map((book) => `${book.text} (${book.title})`)
    .join(' ')
})

export const writer = scriptedModel(({ text }) => text.split('\n').slice(1).join('\n'), { wordDelayMs: 40 })
