import type { IdGenerator } from '@perdure/ports'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The client's X-Request-Id if it is well-formed, otherwise a new id. */
export function requestIdOf(sent: string | undefined, ids: Pick<IdGenerator, 'randomBytes'>): string {
  return sent && REQUEST_ID.test(sent) ? sent : `req_${Buffer.from(ids.randomBytes(16)).toString('hex')}`
}
