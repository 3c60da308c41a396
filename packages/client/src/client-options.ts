import { type Pace, realPace } from './pace.ts'

/**
 * Passed to a credential provider. After the server rejects a credential, the provider is called once more with
 * `isRefused: true`; returning the same credential fails the call.
 */
export interface CredentialRequest {
  readonly isRefused: boolean
}

type Provider = (request: CredentialRequest) => string | undefined | Promise<string | undefined>

/** The subset of the browser's `WebSocket` that the client uses. */
export interface WebSocketLike {
  send(data: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void
}

export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike

/** State change of the client's WebSocket. */
export type ConnectionChange =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  | { readonly state: 'closed'; readonly code: number; readonly reason: string; readonly retryInMs: number | undefined }

/**
 * `auto` uses the WebSocket that all subscriptions of a client share; for runs and sessions it falls back to Server-Sent
 * Events when no WebSocket can be opened. `websocket` does not fall back.
 */
export type Transport = 'auto' | 'websocket' | 'sse'

export interface ClientOptions {
  /** Server URL with its base path, such as `https://agents.example.com/v1`; in a web page, `/v1` works too. */
  readonly baseUrl: string
  /** Access token, or a function that returns the token. If omitted, requests carry no credentials. */
  readonly token?: string | Provider | undefined
  /** Returns a WebSocket ticket; called for each connection. If omitted, the client creates tickets with `token`. */
  readonly tickets?: Provider | undefined
  /** Timeout of a call including retries, in milliseconds. Default 600,000: the longest wait the server supports. */
  readonly timeoutMs?: number | undefined
  /** Maximum retries of a failed call. Default 4. */
  readonly maxRetries?: number | undefined
  /** Headers sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** How subscriptions receive events, unless they say otherwise. Default `auto`. With `sse`, no WebSocket is ever opened. */
  readonly transport?: Transport | undefined
  /** Replaces the global `WebSocket`. */
  readonly WebSocket?: WebSocketConstructor | undefined
  /** Called on every state change of the WebSocket. */
  readonly onConnection?: ((change: ConnectionChange) => void) | undefined
}

/** Client options with defaults applied, shared by all calls. */
export interface ClientContext {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly token: Provider | undefined
  readonly tickets: Provider | undefined
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof globalThis.fetch
  readonly pace: Pace
}

const DEFAULT_TIMEOUT_MS = 600_000
const DEFAULT_MAX_RETRIES = 4

export function createContext(options: ClientOptions, pace: Pace = realPace): ClientContext {
  const { token, fetch = globalThis.fetch } = options
  return {
    baseUrl: normalizeBaseUrl(options.baseUrl),
    token: typeof token === 'string' ? () => token : token,
    tickets: options.tickets,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    headers: options.headers ?? {},
    // Wrapped because a browser's `fetch` throws when it is called as a method.
    fetch: (input, init) => fetch(input, init),
    pace,
  }
}

/** @throws TypeError if `baseUrl` is not an HTTP URL */
function normalizeBaseUrl(baseUrl: string): string {
  const base = URL.canParse(baseUrl) ? undefined : pageUrl()
  if (!URL.canParse(baseUrl, base) || !/^https?:$/.test(new URL(baseUrl, base).protocol)) {
    throw new TypeError(
      `baseUrl must be an http(s) URL with the base path, such as http://127.0.0.1:8080/v1: ${baseUrl}`,
    )
  }
  const { origin, pathname } = new URL(baseUrl, base)
  let end = pathname.length
  while (pathname.charAt(end - 1) === '/') end--
  return origin + pathname.slice(0, end)
}

function pageUrl(): string | undefined {
  const scope: { readonly location?: { readonly href: string }; readonly fetch?: unknown } = globalThis
  return scope.location?.href
}
