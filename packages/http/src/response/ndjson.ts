import { toByteStream } from './byte-stream.ts'

/** A response that produces its lines, or the parts of long lines, on demand. */
export const ndjsonResponse = (lines: AsyncIterable<string | Uint8Array>): Response =>
  new Response(toByteStream(lines), { headers: { 'Content-Type': 'application/x-ndjson; charset=utf-8' } })
