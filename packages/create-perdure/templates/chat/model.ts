// To use a real model: npm install @ai-sdk/openai, then export const model = openai('gpt-5-mini')
import { scriptedModel } from 'perdure/ai-sdk/testing'

/** Answers like a model, but needs no key. */
export const model = scriptedModel(
  ({ text, toolResults: [result] }) => {
    if (result !== undefined) return `Here is what I found: ${JSON.stringify(result.output)}`
    const orderId = /A-\d+/.exec(text)?.[0]
    if (orderId === undefined) return 'Which order is it? Write something like "refund A-17" or "where is A-17".'
    if (text.includes('refund')) return { toolName: 'refund', input: { orderId, amount: 80 } }
    return { toolName: 'lookUpOrder', input: { orderId } }
  },
  { wordDelayMs: 40 },
)
