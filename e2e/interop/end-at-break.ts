/**
 * Ends the response where the connection breaks. The client rejects two promises when the body of a response fails, and
 * one of them cannot be caught.
 */
export const endAtBreak: typeof fetch = async (...request) => {
  const response = await fetch(...request)
  const reader = response.body?.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done = true, value } = (await reader?.read().catch(() => undefined)) ?? {}
      if (done || value === undefined) controller.close()
      else controller.enqueue(value)
    },
  })
  return new Response(body, response)
}
