import { PROTOCOLS, type Protocol } from '@perdure/protocol'
import type { CreateStage } from './stage.ts'

/** Headers that a browser hides from a page otherwise. */
const EXPOSED = [
  ...['Idempotency-Replayed', 'Idempotency-Status', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'X-Request-Id'],
  ...['Location', 'Content-Location', 'WWW-Authenticate', 'Allow', 'Preference-Applied'],
  ...['ETag', 'Accept-Ranges', 'Content-Range', 'Content-Disposition', 'X-Perdure-Run-Id'],
  ...Object.values<Protocol>(PROTOCOLS).flatMap(({ headers }) => headers?.read ?? []),
].join(', ')

/** Lets pages of allowed origins read responses, including errors. Never allows browser credentials. */
export const createCors: CreateStage = ({ config }) => {
  const listed = new Set(config.allowOrigins)

  return ({ head, headers }) => {
    headers.set('Vary', 'Origin')
    const origin = head.header('origin')
    // Every sandboxed frame and local file has the origin `null`, so it is never allowed.
    if (origin === undefined || origin === 'null' || !(listed.has('*') || listed.has(origin))) return undefined
    headers.set('Access-Control-Allow-Origin', listed.has('*') ? '*' : origin)
    headers.set('Access-Control-Expose-Headers', EXPOSED)
    return undefined
  }
}
