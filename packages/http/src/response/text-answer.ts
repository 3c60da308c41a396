import type { StreamAnswer } from '@perdure/ports'
import { toTextBody } from './text-body.ts'

/** A complete response. Unlike a `Response`, it does not load `fetch`, and its headers need no conversion. */
export interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
}

/** A response about to be sent. */
export type Outgoing = Response | TextAnswer | StreamAnswer

/** Checks for a property, because `instanceof Response` would load `fetch`. */
export const isResponse = <Other extends object>(answer: Response | Other): answer is Response =>
  'arrayBuffer' in answer

export const isStream = <Other extends object>(answer: StreamAnswer | Other): answer is StreamAnswer =>
  'stream' in answer

export function toResponse(outgoing: Outgoing): Response {
  if (isResponse(outgoing)) return outgoing
  return new Response(isStream(outgoing) ? toTextBody(outgoing.stream) : outgoing.text, outgoing)
}

/** Releases what an answer holds that is not sent. */
export async function discard(outgoing: Outgoing): Promise<void> {
  if (isResponse(outgoing)) await outgoing.body?.cancel()
  else if (isStream(outgoing)) outgoing.stream.cancel()
}

/** Creates a text response with its Content-Length. */
export const textAnswer = (text: string, status: number, headers: TextAnswer['headers']): TextAnswer => ({
  status,
  headers: { ...headers, 'Content-Length': String(Buffer.byteLength(text)) },
  text,
})

/** Body length; `undefined` if it is known only once the body has been sent. */
export function bytesOf(outgoing: Outgoing): number | undefined {
  if (isStream(outgoing)) return undefined
  if (!isResponse(outgoing)) return Number(outgoing.headers['Content-Length'] ?? 0)
  const length = outgoing.headers.get('content-length')
  return length === null ? undefined : Number(length)
}
