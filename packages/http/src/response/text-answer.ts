/** A complete response. Unlike a `Response`, it does not load `fetch`, and its headers need no conversion. */
export interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
}

/** A response about to be sent. */
export type Outgoing = Response | TextAnswer

/** Checks for a property, because `instanceof Response` would load `fetch`. */
export const isResponse = <Other extends object>(answer: Response | Other): answer is Response =>
  'arrayBuffer' in answer

export const toResponse = (outgoing: Outgoing): Response =>
  isResponse(outgoing) ? outgoing : new Response(outgoing.text, outgoing)

/** Creates a text response with its Content-Length. */
export const textAnswer = (text: string, status: number, headers: TextAnswer['headers']): TextAnswer => ({
  status,
  headers: { ...headers, 'Content-Length': String(Buffer.byteLength(text)) },
  text,
})

/** Body length; `undefined` if it is known only once the body has been sent. */
export function bytesOf(outgoing: Outgoing): number | undefined {
  if (!isResponse(outgoing)) return Number(outgoing.headers['Content-Length'] ?? 0)
  const length = outgoing.headers.get('content-length')
  return length === null ? undefined : Number(length)
}
