export interface Connection {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ServerLineDeps {
  readonly url: string
  readonly token: string | undefined
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly monotonicMs: () => number
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Tells the user something. */
  readonly note: (text: string) => void
  /** A message that the server has not taken for so long is given up. */
  readonly patienceMs: number
}

/** The way to the server, which may be away for a while. */
export interface ServerLine {
  /**
   * Connects until `take` returns true. A connection that fails or breaks, and a server that is busy, are tried again.
   *
   * @throws Error if the server stays away or the signal aborts, and whatever `take` throws for an answer
   */
  exchange(ask: () => Connection, signal: AbortSignal, take: (response: Response) => Promise<boolean>): Promise<void>
  /** Whether the server has answered at least once. */
  hasReached(): boolean
}

/** The server restarts, is overloaded, or limits the rate of requests. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504])

const FIRST_DELAY_MS = 200
const MAX_DELAY_MS = 5_000

export function createServerLine(deps: ServerLineDeps): ServerLine {
  const { url, token, monotonicMs, sleep, note, patienceMs } = deps
  const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  let isAway = false
  let isReached = false

  const heard = () => {
    isReached = true
    if (isAway) note(`the server at ${url} answers again`)
    isAway = false
  }

  const missed = (why: string) => {
    if (!isAway) note(`the server at ${url} does not answer (${why}); the messages of the client wait`)
    isAway = true
  }

  const connect = ({ method, headers, body }: Connection, signal: AbortSignal) =>
    deps.fetch(url, {
      ...{ method, signal },
      headers: { Accept: 'application/json, text/event-stream', ...JSON_BODY, ...authorization, ...headers },
      ...(body === undefined ? {} : { body }),
    })

  return {
    async exchange(ask, signal, take) {
      let since = monotonicMs()
      let delayMs = FIRST_DELAY_MS

      /** Returns whether the exchange is over, or why it must be tried again. */
      const attempt = async (): Promise<boolean | string> => {
        try {
          const response = await connect(ask(), signal)
          if (BUSY.has(response.status)) {
            await response.body?.cancel()
            return `status ${response.status}`
          }
          heard()
          return await take(response).finally(() => {
            since = monotonicMs()
            delayMs = FIRST_DELAY_MS
          })
        } catch (error) {
          // `fetch` reports a refused connection, and one that breaks inside an answer, as a TypeError.
          if (!(error instanceof TypeError) || signal.aborted) throw error
          return causeOf(error)
        }
      }

      for (;;) {
        const outcome = await attempt()
        if (outcome === true) return
        if (outcome !== false) missed(outcome)
        if (monotonicMs() - since > patienceMs) {
          const seconds = Math.round(patienceMs / 1_000)
          throw new Error(`the server at ${url} did not answer for ${seconds} seconds (${outcome})`)
        }
        await sleep(delayMs, signal)
        delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)
      }
    },
    hasReached: () => isReached,
  }
}

const JSON_BODY = { 'Content-Type': 'application/json' }

function causeOf(error: unknown): string {
  const { cause, message } = error as Error
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : message
}
