/** The part of `fetch` that is used. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface BoundedFetchOptions {
  /** The only origin that is ever asked for anything. */
  readonly origin: string
  /** Longest body. Bytes. */
  readonly maxBytes: number
  readonly fetch: Fetch
}

/** A fetch that follows no redirect, leaves no origin and ends every body at its bound. */
export function createBoundedFetch({ origin, maxBytes, fetch }: BoundedFetchOptions): Fetch {
  return async (url, init) => {
    if (new URL(url).origin !== origin) throw new Error('a request would have left the host of the server')
    const response = await fetch(url, { ...init, redirect: 'manual' })
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel()
      throw new Error('the server redirects, which is not followed')
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
      if (left < 0) controller.error(new Error(`the server answers more than ${maxBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
}
