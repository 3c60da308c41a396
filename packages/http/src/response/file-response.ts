import type { OpenFile } from '@perdure/core'
import { type ByteRange, type FileRecord, perdureError } from '@perdure/ports'
import { toByteStream } from './byte-stream.ts'
import { hasContent } from './conditional.ts'
import { withHeaders } from './error-envelope.ts'

export interface FileRequest {
  readonly range: string | undefined
  readonly ifRange: string | undefined
  readonly ifNoneMatch: string
}

/** Types that a browser may show by itself: none of them can execute code with the rights of the server's origin. */
const SAFE_INLINE: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'application/pdf',
])

/**
 * The content of a file, or the part that the Range header names. A header with several ranges, or one that cannot be
 * understood, is ignored.
 *
 * @throws PerdureError `range-not-satisfiable`
 */
export async function fileResponse({ file, read }: OpenFile, request: FileRequest): Promise<Response> {
  const etag = `"${file.sha256}"`
  const headers: Record<string, string> = {
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    'Content-Disposition': dispositionOf(file),
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    ETag: etag,
  }
  if (hasContent(request.ifNoneMatch, etag)) return new Response(null, { status: 304, headers })
  const range =
    request.ifRange === undefined || request.ifRange === etag ? rangeOf(request.range, file.size) : undefined
  headers['Content-Type'] = file.mediaType
  headers['Content-Length'] = String(range === undefined ? file.size : range.end - range.start)
  if (range !== undefined) headers['Content-Range'] = `bytes ${range.start}-${range.end - 1}/${file.size}`
  return new Response(toByteStream(await read(range)), { status: range === undefined ? 200 : 206, headers })
}

const RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/

function rangeOf(header: string | undefined, size: number): ByteRange | undefined {
  const match = RANGE.exec(header?.trim() ?? '')
  if (match === null) return undefined
  const [, first, last, suffix] = match
  const start = first === undefined ? Math.max(0, size - Number(suffix)) : Number(first)
  const end = last === undefined || last === '' ? size : Math.min(size, Number(last) + 1)
  if (last !== undefined && last !== '' && Number(last) < start) return undefined
  if (start < size && start < end) return { start, end }
  const error = perdureError('range-not-satisfiable', { hint: `the file has ${size} bytes: ask for bytes within them` })
  throw withHeaders(error, { 'Content-Range': `bytes */${size}` })
}

function dispositionOf({ id, name = id, mediaType }: FileRecord): string {
  const kind = SAFE_INLINE.has(mediaType) ? 'inline' : 'attachment'
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
  return `${kind}; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encoded}`}`
}
