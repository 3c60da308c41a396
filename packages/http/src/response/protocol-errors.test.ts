import { perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { toErrorAnswer } from './error-envelope.ts'

describe('the error response to a client of a protocol', () => {
  it.each([
    ['without a hint', {}, 'No agent is registered under this id (agent-not-found)'],
    ['with a hint', { hint: 'list them' }, 'No agent is registered under this id (agent-not-found): list them'],
  ])('is one line of text for the AI SDK, %s', (_, more, text) => {
    expect(toErrorAnswer(perdureError('agent-not-found', more), 'req_1', { protocol: 'aiSdk' }).text).toBe(text)
  })

  it('names the base URL and the interfaces to an OpenAI client that uses another path', () => {
    const { text } = toErrorAnswer(perdureError('route-not-found'), 'req_1', { protocol: 'openai' })

    expect(JSON.parse(text ?? '').error).toMatchObject({
      code: 'route-not-found',
      message:
        'No route has this path: use a base URL that ends with /openai; the server has models, chat/completions, responses and conversations',
    })
  })

  it.each([
    ['unsupported-parameter', 'unsupported_parameter'],
    ['rate-limit-exceeded', 'rate_limit_exceeded'],
    ['agent-not-found', 'agent-not-found'],
  ] as const)('has the code that OpenAI clients know for %s', (code, shown) => {
    const { text } = toErrorAnswer(perdureError(code), 'req_1', { protocol: 'openai' })

    expect(JSON.parse(text ?? '').error.code).toBe(shown)
  })
})
