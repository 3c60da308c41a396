import type { CreateStage } from './stage.ts'

const EXPOSED =
  'Idempotency-Replayed, Idempotency-Status, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Location'

/** Lets pages of the origins on the list read the answer, a refusal too. Never with credentials of the browser. */
export const createCors: CreateStage = ({ config }) => {
  const listed = new Set(config.allowOrigins)

  return ({ head, headers }) => {
    headers.set('Vary', 'Origin')
    const origin = head.header('origin')
    // `null` is the origin of every sandboxed frame and local file: nobody in particular.
    if (origin === undefined || origin === 'null' || !(listed.has('*') || listed.has(origin))) return undefined
    headers.set('Access-Control-Allow-Origin', listed.has('*') ? '*' : origin)
    headers.set('Access-Control-Expose-Headers', EXPOSED)
    return undefined
  }
}
