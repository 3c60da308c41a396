import type { IdGenerator } from '@berth/ports'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The client's X-Request-Id when it fits, else a new one. */
export function requestIdOf(sent: string | undefined, ids: Pick<IdGenerator, 'randomBytes'>): string {
  return sent && REQUEST_ID.test(sent) ? sent : `req_${toHex(ids.randomBytes(16))}`
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}
