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
  ] as const)('classifies the status %i as %s, retryable: %s', (status, kind, retryable) => {
    const error = classifyProviderResponse({ status, headers: {}, body: '{}' })

    expect(error).toBeInstanceOf(ProviderError)
    expect(error).toMatchObject({ kind, retryable, status })
  })

  it.each([[-1], [1_000], [Number.NaN]])('classifies %d, which is not an HTTP status, as unknown', (status) => {
    expect(classifyProviderResponse({ status })).toMatchObject({ kind: 'unknown', retryable: false })
  })

  it('returns an error for every status outside 200 to 299', () => {
    const successes = Array.from({ length: 1_000 }, (_, status) => status).filter(
      (status) => classifyProviderResponse({ status, body: 'too many tokens' }) === undefined,
    )

    expect([successes.length, successes[0], successes.at(-1)]).toEqual([100, 200, 299])
  })

  it('includes the status and its meaning in the message, but nothing from the response body', () => {
    const body = { error: { message: 'the prompt was: my secret' } }

    expect(classifyProviderResponse({ status: 400, body })?.message).toBe(
      `HTTP 400: ${PROVIDER_FAILURES['invalid-request']}`,
    )
    expect(classifyProviderResponse({ status: 0 })?.message).toBe(PROVIDER_FAILURES.transient)
  })

  it('keeps the error of the HTTP client as the cause', () => {
    const cause = new TypeError('fetch failed')

    expect(classifyProviderResponse({ status: 0, cause })?.cause).toBe(cause)
  })
})

describe('classifyProviderResponse for a request that is too long', () => {
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

  it.each(bodies)('recognizes the message of %s', (_, body) => {
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
  ])('ignores the body for the status %i', (status, kind) => {
    expect(classifyProviderResponse({ status, body: 'prompt is too long' })).toMatchObject({ kind })
  })

  it.each([
    ['no body', undefined],
    ['null', null],
    ['another error message', { error: { message: 'max_tokens must be positive' } }],
    ['bytes', new Uint8Array([1])],
  ])('classifies a 400 with %s as an invalid request', (_, body) => {
    expect(classifyProviderResponse({ status: 400, body })).toMatchObject({ kind: 'invalid-request' })
  })

  it('accepts a body that cannot be serialized to JSON', () => {
    const body: Record<string, unknown> = {}
    body.itself = body

    expect(classifyProviderResponse({ status: 400, body })).toMatchObject({ kind: 'invalid-request' })
  })

  it('finds a phrase anywhere in the body', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const body = `${before}Prompt Is Too Long${after}`
        expect(classifyProviderResponse({ status: 400, body })?.kind).toBe('context-length')
      }),
    )
  })
})

describe('classifyProviderResponse with Retry-After', () => {
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
  ])('converts %j to %d milliseconds', (value, ms) => {
    expect(retryAfter({ 'retry-after': value })).toEqual([ms, undefined])
  })

  it('keeps an HTTP-date unchanged', () => {
    expect(retryAfter({ 'Retry-After': DATE })).toEqual([undefined, DATE])
  })

  it.each([[''], ['soon'], ['-5'], ['1e3'], ['5, 5'], ['0x10'], ['Infinity']])('ignores the value %j', (value) => {
    expect(retryAfter({ 'retry-after': value })).toEqual([undefined, undefined])
  })

  it.each<[string, ProviderHeaders]>([
    ['Headers', new Headers({ 'Retry-After': '3' })],
    ['a record with a lower-case name', { 'retry-after': '3' }],
    ['a record with an upper-case name', { 'content-type': 'text/plain', 'RETRY-After': '3' }],
    ['a record with a list of values', { 'retry-after': ['3', '9'] }],
    ['a record with a header named get', { get: '1', 'retry-after': '3' }],
  ])('reads the header from %s', (_, headers) => {
    expect(retryAfter(headers)).toEqual([3_000, undefined])
  })

  it.each<[string, ProviderHeaders | undefined]>([
    ['no headers', undefined],
    ['Headers without the header', new Headers()],
    ['a record without the header', { 'content-type': 'text/plain' }],
    ['a record with an undefined value', { 'retry-after': undefined }],
    ['a record with an empty list', { 'retry-after': [] }],
  ])('returns no delay for %s', (_, headers) => {
    expect(retryAfter(headers)).toEqual([undefined, undefined])
  })

  it.each([[0], [400], [500], [503], [529]])('ignores Retry-After for the status %i', (status) => {
    expect(retryAfter({ 'retry-after': '3' }, status)).toEqual([undefined, undefined])
  })
})
