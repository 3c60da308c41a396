import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

/**
 * A model by its name at the AI Gateway, when there is a key for it; else one that answers by itself, so that everything can be
 * tried without a key. Any other model of the AI SDK is as good: npm i @ai-sdk/openai, then openai('gpt-5-mini').
 */
export const model = process.env.AI_GATEWAY_API_KEY ? (process.env.AI_MODEL ?? 'openai/gpt-5-mini') : mockModel()

/** Says back what it was asked. */
function mockModel() {
  return new MockLanguageModelV4({
    provider: 'mock',
    modelId: 'mock',
    async doStream({ prompt }) {
      const asked = prompt.findLast(({ role }) => role === 'user')?.content.find(({ type }) => type === 'text')?.text
      const words = `You said: ${asked}`.split(/(?<=\s)/)
      return { stream: simulateReadableStream({ chunks: chunksOf(words), chunkDelayInMs: null }) }
    },
  })
}

const chunksOf = (words) => [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: 'text' },
  ...words.map((delta) => ({ type: 'text-delta', id: 'text', delta })),
  { type: 'text-end', id: 'text' },
  {
    type: 'finish',
    finishReason: { unified: 'stop', raw: undefined },
    usage: {
      inputTokens: { total: words.length, noCache: words.length, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: words.length, text: words.length, reasoning: undefined },
    },
  },
]
