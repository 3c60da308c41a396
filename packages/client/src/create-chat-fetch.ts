import { newKey } from './new-key.ts'
import { type ResumeOptions, resumingFetch, type StreamEnd } from './resuming-fetch.ts'

export interface ChatFetchOptions extends Pick<ResumeOptions, 'giveUpAfterMs' | 'silenceMs'> {
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

/**
 * A `fetch` for `DefaultChatTransport` of the AI SDK. Its answers survive lost connections and restarts of the server: they
 * continue where they broke, without a hole and without a repetition. Every message has an idempotency key, so that the
 * server acts on it once.
 */
export function createChatFetch({ fetch: send, ...options }: ChatFetchOptions = {}): typeof fetch {
  const follow = resumingFetch<Parameters<typeof fetch>[0]>(
    (input, init) => (send ?? fetch)(input, init),
    ANSWER_END,
    options,
  )
  return (input, init = {}) => {
    const headers = new Headers(init.headers)
    if (init.method === 'POST' && !headers.has(KEY)) headers.set(KEY, newKey())
    return follow(input, { ...init, headers })
  }
}

const KEY = 'Idempotency-Key'

const ANSWER_END: StreamEnd = {
  isLast: (data) => data === '[DONE]',
  lost: (errorText) => [JSON.stringify({ type: 'error', errorText }), '[DONE]'],
}
