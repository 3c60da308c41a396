import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

// A mock model: calls the weather tool once, then answers with its result.
// For a real model, run `npm i @ai-sdk/openai` and write:
//   import { openai } from '@ai-sdk/openai'
//   export const model = openai('gpt-5-mini')
export const model = new MockLanguageModelV4({
  provider: 'mock',
  modelId: 'weather-mock',
  async doStream({ prompt }) {
    const known = prompt.findLast(({ role }) => role === 'tool')?.content[0].output.value
    const chunks = known === undefined ? askForWeather() : say(`In ${known.city} it is ${known.celsius} degrees.`)
    return { stream: simulateReadableStream({ chunks: [{ type: 'stream-start', warnings: [] }, ...chunks] }) }
  },
})

const askForWeather = () => [
  { type: 'tool-call', toolCallId: 'call-1', toolName: 'weather', input: JSON.stringify({ city: 'Oslo' }) },
  finish('tool-calls', 3),
]

const say = (text) => [
  { type: 'text-start', id: 'text-1' },
  ...text.split(/(?<=\s)/).map((delta) => ({ type: 'text-delta', id: 'text-1', delta })),
  { type: 'text-end', id: 'text-1' },
  finish('stop', 7),
]

const finish = (unified, tokens) => ({
  type: 'finish',
  finishReason: { unified, raw: undefined },
  usage: {
    inputTokens: { total: 20, noCache: 20, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: tokens, text: tokens, reasoning: undefined },
  },
})
