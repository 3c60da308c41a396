import { jsonObjectIn } from './body-member.ts'
import { decodeAll, isSigned, missing, signatureOf, timeProblem, utf8, WRONG_SIGNATURE } from './hmac-signature.ts'
import type { Platform } from './platform.ts'

/** Linear recommends a minute. */
const TOLERANCE_SECONDS = 60

const contentOf = (body: string | Uint8Array) => ({ algorithm: 'sha256', pieces: [body] }) as const

/** https://linear.app/developers/webhooks#securing-webhooks. The time of the request is a member of the body. */
export const linear: Platform = {
  open: (toleranceSeconds = TOLERANCE_SECONDS) => ({
    headers: ['linear-delivery', 'linear-event'],
    async verify({ header, body, secrets, now }) {
      const signature = header('linear-signature')
      if (signature === undefined) return missing('Linear-Signature')
      if (!isSigned(contentOf(body), secrets.map(utf8), decodeAll([signature], 'hex'))) return WRONG_SIGNATURE
      const timestamp = String(jsonObjectIn(body)?.webhookTimestamp ?? '')
      const problem = timeProblem(timestamp, { now, toleranceSeconds, unitMs: 1 })
      if (problem !== undefined) return problem
      const deliveryId = header('linear-delivery')
      return deliveryId === undefined ? missing('Linear-Delivery') : { kind: 'verified', deliveryId }
    },
    sign: ({ deliveryId, body }, secret) => ({
      'linear-delivery': deliveryId,
      'linear-signature': signatureOf(contentOf(body), utf8(secret), 'hex'),
    }),
  }),
}
