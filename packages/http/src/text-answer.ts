/** A whole answer. It becomes a `Response` last of all, because one would have to be taken apart again for its headers. */
export interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
}

/** What is about to be sent. */
export type Outgoing = Response | TextAnswer

/** An answer whose length is known and said. */
export const textAnswer = (text: string, status: number, headers: TextAnswer['headers']): TextAnswer => ({
  status,
  headers: { ...headers, 'Content-Length': String(Buffer.byteLength(text)) },
  text,
})

/** `undefined` where it shows only as it is sent. */
export function bytesOf(outgoing: Outgoing): number | undefined {
  if (!(outgoing instanceof Response)) return Number(outgoing.headers['Content-Length'] ?? 0)
  const length = outgoing.headers.get('content-length')
  return length === null ? undefined : Number(length)
}
