import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'

type DoStream = MockLanguageModelV4['doStream']
type Prompt = Parameters<DoStream>[0]['prompt']
type Part = Awaited<ReturnType<DoStream>>['stream'] extends ReadableStream<infer P> ? P : never

const finish = (unified: 'stop' | 'tool-calls', tokens: number): Part => ({
  type: 'finish',
  finishReason: { unified, raw: undefined },
  usage: {
    inputTokens: { total: 20, noCache: 20, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: tokens, text: tokens, reasoning: undefined },
  },
})

const askForWeather: Part[] = [
  { type: 'tool-call', toolCallId: 'call-1', toolName: 'weather', input: JSON.stringify({ city: 'Oslo' }) },
  finish('tool-calls', 3),
]

const say = (text: string): Part[] => [
  { type: 'text-start', id: 'text-1' },
  ...text.split(/(?<=\s)/).map((delta): Part => ({ type: 'text-delta', id: 'text-1', delta })),
  { type: 'text-end', id: 'text-1' },
  finish('stop', 7),
]

const Weather = z.object({ city: z.string(), celsius: z.number() })

/** The result of the weather tool, if the model has it already. */
function weatherIn(prompt: Prompt) {
  const [part] = prompt.findLast(({ role }) => role === 'tool')?.content ?? []
  if (typeof part !== 'object' || part.type !== 'tool-result' || part.output.type !== 'json') return
  return Weather.parse(part.output.value)
}

// A mock model: calls the weather tool once, then answers with its result. For a real model, run `npm i @ai-sdk/openai` and write:
//   import { openai } from '@ai-sdk/openai'
//   export const model = openai('gpt-5-mini')
export const model = new MockLanguageModelV4({
  provider: 'mock',
  modelId: 'weather-mock',
  async doStream({ prompt }) {
    const known = weatherIn(prompt)
    const chunks = known === undefined ? askForWeather : say(`In ${known.city} it is ${known.celsius} degrees.`)
    return { stream: simulateReadableStream({ chunks: [{ type: 'stream-start', warnings: [] }, ...chunks] }) }
  },
})
