/** A whole answer. A `Response` would have to be taken apart again for its headers, and load all of `fetch` before. */
export interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
}

/** What is about to be sent. */
export type Outgoing = Response | TextAnswer

/** Told apart by a member: to name the class would load it. */
export const isResponse = <Other extends object>(answer: Response | Other): answer is Response =>
  'arrayBuffer' in answer

export const toResponse = (outgoing: Outgoing): Response =>
  isResponse(outgoing) ? outgoing : new Response(outgoing.text, outgoing)

/** An answer whose length is known and said. */
export const textAnswer = (text: string, status: number, headers: TextAnswer['headers']): TextAnswer => ({
  status,
  headers: { ...headers, 'Content-Length': String(Buffer.byteLength(text)) },
  text,
})

/** `undefined` where it shows only as it is sent. */
export function bytesOf(outgoing: Outgoing): number | undefined {
  if (!isResponse(outgoing)) return Number(outgoing.headers['Content-Length'] ?? 0)
  const length = outgoing.headers.get('content-length')
  return length === null ? undefined : Number(length)
}
