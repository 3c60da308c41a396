/** The part of a request that tests check. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: unknown
}

type Reply = Response | Error | ((request: SeenRequest, signal: AbortSignal) => Response | Promise<Response>)

/** Answers each request with the next reply; an Error simulates a network failure. */
export function scriptFetch(...replies: Reply[]) {
  const requests: SeenRequest[] = []
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const { pathname, search } = new URL(String(input))
    const seen = {
      method: init.method ?? 'GET',
      path: `${pathname}${search}`,
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
    }
    requests.push(seen)
    const reply = replies.shift()
    if (reply === undefined) throw new Error(`no reply is scripted for ${seen.method} ${seen.path}`)
    if (reply instanceof Error) throw reply
    return reply instanceof Response ? reply : reply(seen, init.signal as AbortSignal)
  }
  return { fetch, requests }
}

export const json = (body: unknown, init: ResponseInit = {}): Response => Response.json(body, init)

export const refusal = (status: number, error: string, headers: Record<string, string> = {}): Response =>
  Response.json({ error, message: `refused as ${error}`, requestId: 'req_1' }, { status, headers })

export const noNetwork = () => new TypeError('fetch failed')

/** Does not respond until it is aborted. */
export const silence = (_: SeenRequest, signal: AbortSignal) =>
  new Promise<Response>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
