import type { ClientOptions } from './client-options.ts'
import { newKey } from './new-key.ts'
import { type ResumeOptions, resumingFetch, type StreamEnd } from './resuming-fetch.ts'

export interface ChatFetchOptions
  extends Pick<ResumeOptions, 'giveUpAfterMs' | 'silenceMs'>,
    Pick<ClientOptions, 'token'> {
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

/**
 * A `fetch` for `DefaultChatTransport` of the AI SDK. Its answers survive lost connections and restarts of the server: they
 * continue where they broke, without a hole and without a repetition. Every message has an idempotency key, so that the
 * server acts on it once. A function as `token` is called for each connection, so that an answer outlives its token, and
 * once more after the server has refused a token.
 */
export function createChatFetch({ fetch: send, token, ...options }: ChatFetchOptions = {}): typeof fetch {
  type Input = Parameters<typeof fetch>[0]
  const tokenFor = async (isRefused: boolean) => (typeof token === 'function' ? token({ isRefused }) : token)

  const sendAs = (input: Input, init: RequestInit, bearer: string | undefined) => {
    const headers = new Headers(init.headers)
    if (bearer !== undefined) headers.set('Authorization', `Bearer ${bearer}`)
    return (send ?? fetch)(input, { ...init, headers })
  }

  const authorized = async (input: Input, init: RequestInit) => {
    const bearer = await tokenFor(false)
    const answer = await sendAs(input, init, bearer)
    if (answer.status !== 401 || typeof token !== 'function') return answer
    const renewed = await tokenFor(true)
    if (renewed === bearer) return answer
    await answer.body?.cancel()
    return sendAs(input, init, renewed)
  }

  const follow = resumingFetch<Input>(authorized, ANSWER_END, options)
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
