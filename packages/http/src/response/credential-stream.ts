import type { Principal, WatchCredential } from '@perdure/core'

const EXPORTS = /^(?:application\/x-ndjson|text\/csv)\b/

/**
 * Ends a streamed export when its token is revoked, expires or loses its scopes. Other responses are returned
 * unchanged; event streams watch the token themselves.
 */
export function endWithCredential(
  response: Response,
  { tokenId }: Principal,
  watchCredential: WatchCredential,
): Response {
  // Checked before `body` is read: reading it turns a text response into a stream.
  if (tokenId === undefined || !EXPORTS.test(response.headers.get('content-type') ?? '')) return response
  const { body, status, headers } = response
  if (body === null) return response
  return new Response(
    endedBy(body, (end) => watchCredential(tokenId, end)),
    { status, headers },
  )
}

/** Passes the source through, chunk by chunk on demand, until `watch` calls `end`. */
function endedBy(source: ReadableStream<Uint8Array>, watch: (end: () => void) => () => void) {
  const reader = source.getReader()
  let unwatch = () => {}
  let isOver = false

  const release = () => {
    isOver = true
    unwatch()
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        unwatch = watch(() => {
          if (isOver) return
          release()
          controller.close()
          reader.cancel().catch(() => undefined)
        })
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (isOver) return
          if (!done) return controller.enqueue(value)
          release()
          controller.close()
        } catch (error) {
          if (isOver) return
          release()
          controller.error(error)
        }
      },
      cancel(reason) {
        release()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
