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
  /** The text of the response, or what it parses to. */
  readonly body?: unknown
  /** What the HTTP client threw; becomes the cause of the error. */
  readonly cause?: unknown
}

/**
 * The failure an HTTP response of a model provider means, or `undefined` for a success (2xx). Never throws.
 *
 * @see the table of HTTP classifications in section 7.4 of the interface document
 */
export function classifyProviderResponse(response: ProviderResponse): ProviderError | undefined {
  const { status, headers = {}, body, cause } = response
  if (status >= 200 && status <= 299) return undefined

  const rule = PROVIDER_STATUS_RULES.find(({ statuses }) =>
    statuses.some(([first, last]) => first <= status && status <= last),
  )
  const longContext = rule?.kindOfLongContext
  const kind = (longContext !== undefined && saysContextIsTooLong(body) ? longContext : rule?.kind) ?? 'unknown'
  const summary = PROVIDER_FAILURES[kind]
  return new ProviderError(kind, {
    message: status === 0 ? summary : `HTTP ${status}: ${summary}`,
    retryable: rule?.retryable ?? false,
    status,
    cause,
    ...(rule?.honoursRetryAfter && readRetryAfter(headers)),
  })
}

/** Lower-case words with which providers say that a request does not fit. */
const TOO_LONG_PHRASES = [
  'context_length_exceeded', // OpenAI, as the code
  'maximum context length', // OpenAI, vLLM, OpenRouter, Mistral
  'exceeds the context window', // OpenAI, Responses API
  'prompt is too long', // Anthropic
  'exceed context limit', // Anthropic, input and max_tokens together
  'exceeds the maximum number of tokens', // Google
  'input is too long for requested model', // Amazon Bedrock
  'exceeds the available context size', // llama.cpp
  'too many tokens', // Cohere and others
]

function saysContextIsTooLong(body: unknown): boolean {
  const text = textOf(body).toLowerCase()
  return TOO_LONG_PHRASES.some((phrase) => text.includes(phrase))
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  try {
    return toJsonText(body)
  } catch {
    return '' // not JSON, so not what a provider sent
  }
}

function readRetryAfter(headers: ProviderHeaders): Pick<ProviderErrorOptions, 'retryAfterMs' | 'retryAfterDate'> {
  const value = headerOf(headers, 'retry-after').trim()
  if (isHttpDate(value)) return { retryAfterDate: value }
  if (!/^\d+(?:\.\d+)?$/.test(value)) return {}
  return { retryAfterMs: Math.min(Math.ceil(Number(value) * 1_000), Number.MAX_SAFE_INTEGER) }
}

/** The value of a header, the first of several; empty when it is missing. `name` in lower case. */
function headerOf(headers: ProviderHeaders, name: string): string {
  if (hasGetter(headers)) return headers.get(name) ?? ''
  const field = Object.keys(headers).find((key) => key.toLowerCase() === name)
  const value = field === undefined ? undefined : headers[field]
  return String([value].flat()[0] ?? '')
}

const hasGetter = (headers: ProviderHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === 'function'
