/** A response whose length is known and said. */
export function textResponse(text: string, status: number, headers: Headers): Response {
  headers.set('Content-Length', String(encoder.encode(text).byteLength))
  return new Response(text, { status, headers })
}

const encoder = new TextEncoder()
