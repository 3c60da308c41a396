import { PROVIDER_FAILURES } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyProviderResponse, type ProviderHeaders } from './classify-provider-response.ts'
import { ProviderError } from './provider-error.ts'

const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'

describe('classifyProviderResponse', () => {
  it.each([
    [0, 'transient', true],
    [429, 'rate-limit', true],
    [401, 'unauthorized', false],
    [403, 'unauthorized', false],
    [400, 'invalid-request', false],
    [404, 'invalid-request', false],
    [422, 'invalid-request', false],
    [503, 'capacity', true],
    [529, 'capacity', true],
    [500, 'transient', true],
    [502, 'transient', true],
    [504, 'transient', true],
    [599, 'transient', true],
    [101, 'unknown', false],
    [302, 'unknown', false],
    [402, 'unknown', false],
    [413, 'unknown', false],
    [600, 'unknown', false],
  ] as const)('takes the status %i for %s, retryable: %s', (status, kind, retryable) => {
    const error = classifyProviderResponse({ status, headers: {}, body: '{}' })

    expect(error).toBeInstanceOf(ProviderError)
    expect(error).toMatchObject({ kind, retryable, status })
  })

  it.each([[-1], [1_000], [Number.NaN]])('takes %d, which is no status, for unknown', (status) => {
    expect(classifyProviderResponse({ status })).toMatchObject({ kind: 'unknown', retryable: false })
  })

  it('finds a failure in every status but those of success', () => {
    const successes = Array.from({ length: 1_000 }, (_, status) => status).filter(
      (status) => classifyProviderResponse({ status, body: 'too many tokens' }) === undefined,
    )

    expect([successes.length, successes[0], successes.at(-1)]).toEqual([100, 200, 299])
  })

  it('says the status and what it means, and nothing of what the provider sent', () => {
    const body = { error: { message: 'the prompt was: my secret' } }

    expect(classifyProviderResponse({ status: 400, body })?.message).toBe(
      `HTTP 400: ${PROVIDER_FAILURES['invalid-request']}`,
    )
    expect(classifyProviderResponse({ status: 0 })?.message).toBe(PROVIDER_FAILURES.transient)
  })

  it('keeps what the HTTP client threw as the cause', () => {
    const cause = new TypeError('fetch failed')

    expect(classifyProviderResponse({ status: 0, cause })?.cause).toBe(cause)
  })
})

describe('classifyProviderResponse, for a request that is too long', () => {
  const bodies: [string, unknown][] = [
    ['OpenAI', { error: { code: 'context_length_exceeded', message: '…' } }],
    ['OpenAI chat', { error: { message: "This model's maximum context length is 8192 tokens. However, …" } }],
    ['OpenAI responses', { error: { message: 'Your input exceeds the context window of this model.' } }],
    ['Anthropic', { error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000' } }],
    ['Anthropic with max_tokens', 'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000'],
    ['Google', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'],
    ['Bedrock', { message: 'Input is too long for requested model.' }],
    ['llama.cpp', 'the request exceeds the available context size, try increasing it'],
    ['a provider like Cohere', 'TOO MANY TOKENS: size limit exceeded'],
  ]

  it.each(bodies)('understands %s', (_, body) => {
    const expected = { kind: 'context-length', retryable: false }

    expect(classifyProviderResponse({ status: 400, body })).toMatchObject(expected)
    expect(classifyProviderResponse({ status: 404, body: JSON.stringify(body) })).toMatchObject(expected)
    expect(classifyProviderResponse({ status: 422, body: [body] })).toMatchObject(expected)
  })

  it.each([
    [429, 'rate-limit'],
    [401, 'unauthorized'],
    [500, 'transient'],
    [503, 'capacity'],
    [413, 'unknown'],
  ])('does not look at the body of a %i', (status, kind) => {
    expect(classifyProviderResponse({ status, body: 'prompt is too long' })).toMatchObject({ kind })
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['another complaint', { error: { message: 'max_tokens must be positive' } }],
    ['bytes', new Uint8Array([1])],
  ])('takes %s for an invalid request', (_, body) => {
    expect(classifyProviderResponse({ status: 400, body })).toMatchObject({ kind: 'invalid-request' })
  })

  it('survives a body that is not JSON', () => {
    const body: Record<string, unknown> = {}
    body.itself = body

    expect(classifyProviderResponse({ status: 400, body })).toMatchObject({ kind: 'invalid-request' })
  })

  it('finds the words wherever they stand', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const body = `${before}Prompt Is Too Long${after}`
        expect(classifyProviderResponse({ status: 400, body })?.kind).toBe('context-length')
      }),
    )
  })
})

describe('classifyProviderResponse, for Retry-After', () => {
  const retryAfter = (headers: ProviderHeaders | undefined, status = 429) => {
    const error = classifyProviderResponse({ status, headers })
    return [error?.retryAfterMs, error?.retryAfterDate]
  }

  it.each([
    ['7', 7_000],
    ['0', 0],
    [' 12 ', 12_000],
    ['1.5', 1_500],
    ['0.0001', 1],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('exposes %j as %d milliseconds', (value, ms) => {
    expect(retryAfter({ 'retry-after': value })).toEqual([ms, undefined])
  })

  it('keeps an HTTP-date as it was sent', () => {
    expect(retryAfter({ 'Retry-After': DATE })).toEqual([undefined, DATE])
  })

  it.each([[''], ['soon'], ['-5'], ['1e3'], ['5, 5'], ['0x10'], ['Infinity']])('ignores %j', (value) => {
    expect(retryAfter({ 'retry-after': value })).toEqual([undefined, undefined])
  })

  it.each<[string, ProviderHeaders]>([
    ['Headers', new Headers({ 'Retry-After': '3' })],
    ['a record in lower case', { 'retry-after': '3' }],
    ['a record in the case of the provider', { 'content-type': 'text/plain', 'RETRY-After': '3' }],
    ['a record of lists', { 'retry-after': ['3', '9'] }],
    ['a record with a header named get', { get: '1', 'retry-after': '3' }],
  ])('reads %s', (_, headers) => {
    expect(retryAfter(headers)).toEqual([3_000, undefined])
  })

  it.each<[string, ProviderHeaders | undefined]>([
    ['no headers', undefined],
    ['Headers without it', new Headers()],
    ['a record without it', { 'content-type': 'text/plain' }],
    ['a record with nothing in it', { 'retry-after': undefined }],
    ['a record with an empty list', { 'retry-after': [] }],
  ])('finds nothing in %s', (_, headers) => {
    expect(retryAfter(headers)).toEqual([undefined, undefined])
  })

  it.each([[0], [400], [500], [503], [529]])('does not honour it for a %i', (status) => {
    expect(retryAfter({ 'retry-after': '3' }, status)).toEqual([undefined, undefined])
  })
})
