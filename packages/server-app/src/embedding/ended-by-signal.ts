/**
 * Fails the body of the response when the signal aborts, and cancels its source, also if nobody reads the body. (A pipe
 * with a signal would first wait until its last chunk has been read.)
 */
export function endedBySignal(response: Response, signal: AbortSignal): Response {
  const { body } = response
  if (body === null) return response
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  let unwatch = () => {}

  const source = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const onAbort = () => {
          controller.error(signal.reason)
          reader.cancel(signal.reason).catch(() => undefined)
        }
        if (signal.aborted) return onAbort()
        signal.addEventListener('abort', onAbort, { once: true })
        unwatch = () => signal.removeEventListener('abort', onAbort)
      },
      async pull(controller) {
        const { done, value } = await reader.read()
        if (signal.aborted) return
        if (!done) return controller.enqueue(value)
        unwatch()
        controller.close()
      },
      cancel(reason) {
        unwatch()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(source, response)
}
