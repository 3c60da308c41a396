import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

/**
 * The model of the agent. With a key for the AI Gateway, this is the name of one of its models; otherwise it is a mock,
 * so that you can try everything without a key. Any AI SDK model works here: npm i @ai-sdk/openai, then
 * openai('gpt-5-mini').
 */
export const model = process.env.AI_GATEWAY_API_KEY ? (process.env.AI_MODEL ?? 'openai/gpt-5-mini') : mockModel()

/** A model that repeats the question. */
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
