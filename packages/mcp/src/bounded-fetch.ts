/** The subset of `fetch` that this package uses. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface BoundedFetchOptions {
  /** Requests to any other origin fail. */
  readonly origin: string
  /** Maximum size of a response body. */
  readonly maxBytes: number
  readonly fetch: Fetch
}

/** Creates a `fetch` that rejects redirects, requests to other origins, and response bodies larger than `maxBytes`. */
export function createBoundedFetch({ origin, maxBytes, fetch }: BoundedFetchOptions): Fetch {
  return async (url, init) => {
    if (new URL(url).origin !== origin) throw new Error(`the request goes to an origin other than ${origin}`)
    const response = await fetch(url, { ...init, redirect: 'manual' })
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel()
      throw new Error('the server answered with a redirect, and redirects are not followed')
    }
    if (response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(bounded(maxBytes)), { status, statusText, headers })
  }
}

function bounded(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes
  return new TransformStream({
    transform(chunk, controller) {
      left -= chunk.length
      if (left < 0) controller.error(new Error(`the response is larger than ${maxBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
}
