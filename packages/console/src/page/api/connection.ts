import { type ConnectionChange, createClient, type PerdureClient } from '@perdure/client'

/** The URL of the API, which the server has written into the page. */
export const API_URL: string = new URL(
  document.querySelector<HTMLMetaElement>('meta[name="perdure-api"]')?.content ?? '../v1',
  document.baseURI,
).href

const CSRF_COOKIE = /(?:^|;\s*)(?:__Host-)?perdure-csrf=([^;]*)/

export interface ConnectionListener {
  onConnection(change: ConnectionChange): void
  /** A request has received no answer. */
  onUnreachable(): void
}

/** Connects to the API as the session of this browser. */
export function connect({ onConnection, onUnreachable }: ConnectionListener): PerdureClient {
  /** Sends the CSRF token of the cookie back with every change; the session cookie travels by itself. */
  const fetchWithSession: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    const token = CSRF_COOKIE.exec(document.cookie)?.[1]
    if (token !== undefined) headers.set('X-CSRF-Token', token)
    try {
      return await fetch(input, { ...init, headers, credentials: 'same-origin' })
    } catch (error) {
      if (init?.signal?.aborted !== true) onUnreachable()
      throw error
    }
  }

  return createClient({
    baseUrl: API_URL,
    fetch: fetchWithSession,
    // The cookie is the credential: the client mints its tickets with it, and may fall back to event streams.
    token: () => undefined,
    onConnection,
    maxRetries: 2,
    timeoutMs: 30_000,
  })
}
