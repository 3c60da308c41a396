import { decodeAll, isSigned, missing, signatureOf, timeProblem, WRONG_SIGNATURE } from './hmac-signature.ts'
import { DEFAULT_TOLERANCE_SECONDS, type Platform } from './platform.ts'

const PREFIX = 'whsec_'
const MIN_KEY_BYTES = 16
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

const textOf = (secret: string): string => (secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)

const keyOf = (secret: string): Buffer => Buffer.from(textOf(secret), 'base64')

/** A secret can be replaced by one of another form while the server runs. */
const isKey = (secret: string): boolean => BASE64.test(textOf(secret)) && keyOf(secret).length >= MIN_KEY_BYTES

const contentOf = (id: string, timestamp: string, body: string | Uint8Array) =>
  ({ algorithm: 'sha256', pieces: [`${id}.${timestamp}.`, body] }) as const

/** https://www.standardwebhooks.com, also under the header names of Svix. */
export const standardWebhooks: Platform = {
  checkSecret(secret) {
    if (isKey(secret)) return
    throw new Error(`the secret is not whsec_ followed by at least ${MIN_KEY_BYTES} bytes in base64`)
  },
  open: (toleranceSeconds = DEFAULT_TOLERANCE_SECONDS) => ({
    headers: ['webhook-id', 'webhook-timestamp', 'svix-id', 'svix-timestamp'],
    async verify({ header, body, secrets, now }) {
      const family =
        header('webhook-signature') === undefined && header('svix-signature') !== undefined ? 'svix' : 'webhook'
      const names = { id: `${family}-id`, timestamp: `${family}-timestamp`, signature: `${family}-signature` }
      const [id, timestamp, signature] = [header(names.id), header(names.timestamp), header(names.signature)]
      if (id === undefined || id === '') return missing(names.id)
      if (timestamp === undefined) return missing(names.timestamp)
      if (signature === undefined) return missing(names.signature)
      const given = signature.split(' ').flatMap((part) => (part.startsWith('v1,') ? [part.slice('v1,'.length)] : []))
      if (!isSigned(contentOf(id, timestamp, body), secrets.filter(isKey).map(keyOf), decodeAll(given, 'base64')))
        return WRONG_SIGNATURE
      return timeProblem(timestamp, { now, toleranceSeconds }) ?? { kind: 'verified', deliveryId: id }
    },
    sign({ deliveryId, body, now }, secret) {
      const timestamp = String(Math.floor(now / 1_000))
      return {
        'webhook-id': deliveryId,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signatureOf(contentOf(deliveryId, timestamp, body), keyOf(secret), 'base64')}`,
      }
    },
  }),
}
