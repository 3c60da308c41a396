/** The stream of a request that is refused after the client has opened its run. */
export function errorStream(
  { threadId, runId }: { readonly threadId: string; readonly runId: string },
  { code, message }: { readonly code: string; readonly message: string },
): Response {
  const events = [
    { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' },
    { type: 'RUN_ERROR', message, code },
  ]
  const blocks = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(blocks, {
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache, no-transform' },
  })
}
