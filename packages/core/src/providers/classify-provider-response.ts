import { toJsonText } from '@perdure/ports'
import { PROVIDER_FAILURES, PROVIDER_STATUS_RULES } from '@perdure/protocol'
import { isHttpDate } from './http-date.ts'
import { ProviderError, type ProviderErrorOptions } from './provider-error.ts'

export type ProviderHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface ProviderResponse {
  readonly status: number // 0 is a timeout or a network failure
  readonly headers?: ProviderHeaders | undefined
  /** The response body, as text or parsed. */
  readonly body?: unknown
  /** The error thrown by the HTTP client; becomes the cause of the `ProviderError`. */
  readonly cause?: unknown
}

/**
 * Maps an HTTP response of a model provider to an error, or to `undefined` for a success (2xx). Never throws.
 *
 * @see `PROVIDER_STATUS_RULES` in `@perdure/protocol`
 */
export function classifyProviderResponse(response: ProviderResponse): ProviderError | undefined {
  const { status, headers = {}, body, cause } = response
  if (status >= 200 && status <= 299) return undefined

  const rule = PROVIDER_STATUS_RULES.find(({ statuses }) =>
    statuses.some(([first, last]) => first <= status && status <= last),
  )
  const longContext = rule?.kindOfLongContext
  const kind = (longContext !== undefined && reportsContextTooLong(body) ? longContext : rule?.kind) ?? 'unknown'
  const summary = PROVIDER_FAILURES[kind]
  return new ProviderError(kind, {
    message: status === 0 ? summary : `HTTP ${status}: ${summary}`,
    retryable: rule?.retryable ?? false,
    status,
    cause,
    ...(rule?.honoursRetryAfter && readRetryAfter(headers)),
  })
}

/** Phrases, in lower case, that providers use for a request that exceeds the context window. */
const TOO_LONG_PHRASES = [
  'context_length_exceeded', // OpenAI, in the error code
  'maximum context length', // OpenAI, vLLM, OpenRouter, Mistral
  'exceeds the context window', // OpenAI, Responses API
  'prompt is too long', // Anthropic
  'exceed context limit', // Anthropic, input and max_tokens together
  'exceeds the maximum number of tokens', // Google
  'input is too long for requested model', // Amazon Bedrock
  'exceeds the available context size', // llama.cpp
  'too many tokens', // Cohere and others
]

function reportsContextTooLong(body: unknown): boolean {
  const text = textOf(body).toLowerCase()
  return TOO_LONG_PHRASES.some((phrase) => text.includes(phrase))
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  try {
    return toJsonText(body)
  } catch {
    return '' // not JSON, so not a provider response
  }
}

function readRetryAfter(headers: ProviderHeaders): Pick<ProviderErrorOptions, 'retryAfterMs' | 'retryAfterDate'> {
  const value = headerOf(headers, 'retry-after').trim()
  if (isHttpDate(value)) return { retryAfterDate: value }
  if (!/^\d+(?:\.\d+)?$/.test(value)) return {}
  return { retryAfterMs: Math.min(Math.ceil(Number(value) * 1_000), Number.MAX_SAFE_INTEGER) }
}

/** First value of a header; empty if it is missing. `name` is in lower case. */
function headerOf(headers: ProviderHeaders, name: string): string {
  if (hasGetter(headers)) return headers.get(name) ?? ''
  const field = Object.keys(headers).find((key) => key.toLowerCase() === name)
  const value = field === undefined ? undefined : headers[field]
  return String([value].flat()[0] ?? '')
}

const hasGetter = (headers: ProviderHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === 'function'
