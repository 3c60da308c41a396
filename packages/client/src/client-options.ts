import { type Pace, realPace } from './pace.ts'

/** Asked again with `isRefused` when the server did not take what it gave; the same answer then ends the call. */
export interface CredentialRequest {
  readonly isRefused: boolean
}

type Provider = (request: CredentialRequest) => string | undefined | Promise<string | undefined>

/** The part of a browser's WebSocket that is used. */
export interface WebSocketLike {
  send(data: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void
}

export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike

/** What became of the one WebSocket of a client. */
export type ConnectionChange =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  | { readonly state: 'closed'; readonly code: number; readonly reason: string; readonly retryInMs: number | undefined }

export interface ClientOptions {
  /** Address of the server with its base path, such as `https://agents.example.com/v1`; in a page also `/v1`. */
  readonly baseUrl: string
  /** Access token, or what gives one. Without it requests carry no credentials. */
  readonly token?: string | Provider | undefined
  /** Gives a WebSocket ticket, one for each connection. Without it they are minted with the token. */
  readonly tickets?: Provider | undefined
  /** How long a call may take, retries included. Milliseconds; 600,000 without it, as long as the server waits at most. */
  readonly timeoutMs?: number | undefined
  /** How often a failed call is sent again; 4 without it. */
  readonly maxRetries?: number | undefined
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Instead of the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Instead of the global one; `null`: subscriptions use Server-Sent Events only. */
  readonly WebSocket?: WebSocketConstructor | null | undefined
  /** Hears of every change of the WebSocket connection. */
  readonly onConnection?: ((change: ConnectionChange) => void) | undefined
  /** Clock, timers and randomness, for tests. */
  readonly pace?: Pace | undefined
}

/** The options with their defaults, and what all calls of a client share. */
export interface ClientContext {
  /** Without a slash at its end. */
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

export function createContext(options: ClientOptions): ClientContext {
  const { token, fetch = globalThis.fetch } = options
  return {
    baseUrl: absolute(options.baseUrl),
    token: typeof token === 'string' ? () => token : token,
    tickets: options.tickets,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    headers: options.headers ?? {},
    // Called as a plain function: a browser's fetch refuses another `this`.
    fetch: (input, init) => fetch(input, init),
    pace: options.pace ?? realPace,
  }
}

/** @throws TypeError when it is not an HTTP address. */
function absolute(baseUrl: string): string {
  const base = URL.canParse(baseUrl) ? undefined : addressOfPage()
  if (!URL.canParse(baseUrl, base) || !/^https?:$/.test(new URL(baseUrl, base).protocol)) {
    throw new TypeError(
      `baseUrl must be an http(s) address with the base path, such as http://127.0.0.1:8080/v1: ${baseUrl}`,
    )
  }
  const { origin, pathname } = new URL(baseUrl, base)
  let end = pathname.length
  while (pathname.charAt(end - 1) === '/') end--
  return origin + pathname.slice(0, end)
}

function addressOfPage(): string | undefined {
  const scope: { readonly location?: { readonly href: string }; readonly fetch?: unknown } = globalThis
  return scope.location?.href
}
