import { type ConnectionChange, createClient, type PerdureClient } from '@perdure/client'
import { API_URL } from './api-url.ts'

/** The cookie of this server; other servers on this host have cookies of their own. */
const CSRF_COOKIE = `${document.querySelector<HTMLMetaElement>('meta[name="perdure-csrf"]')?.content}=`

const csrfToken = (): string | undefined =>
  document.cookie
    .split(/;\s*/)
    .find((cookie) => cookie.startsWith(CSRF_COOKIE))
    ?.slice(CSRF_COOKIE.length)

export interface ConnectionListener {
  onConnection(change: ConnectionChange): void
  onAnswered(): void
  /** A request has received no answer, or a proxy has not reached the server. */
  onUnreachable(): void
}

/** Sends the CSRF token of the cookie back with every change; the session cookie travels by itself. */
export const sessionFetch: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  const token = csrfToken()
  if (token !== undefined) headers.set('X-CSRF-Token', token)
  return fetch(input, { ...init, headers, credentials: 'same-origin' })
}

/** Connects to the API as the session of this browser. */
export function connect({ onConnection, onAnswered, onUnreachable }: ConnectionListener): PerdureClient {
  const watchedFetch: typeof fetch = async (input, init) => {
    try {
      const response = await sessionFetch(input, init)
      if (response.status === 502 || response.status === 504) onUnreachable()
      else onAnswered()
      return response
    } catch (error) {
      if (init?.signal?.aborted !== true) onUnreachable()
      throw error
    }
  }

  return createClient({
    baseUrl: API_URL,
    fetch: watchedFetch,
    // The cookie is the credential: the client mints its tickets with it, and may fall back to event streams.
    token: () => undefined,
    onConnection,
    maxRetries: 2,
    timeoutMs: 30_000,
  })
}
