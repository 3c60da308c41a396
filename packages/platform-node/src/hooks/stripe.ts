import { jsonObjectIn, textMember } from './body-member.ts'
import {
  decodeAll,
  isSigned,
  missing,
  refused,
  signatureOf,
  timeProblem,
  utf8,
  WRONG_SIGNATURE,
} from './hmac-signature.ts'
import { DEFAULT_TOLERANCE_SECONDS, type Platform } from './platform.ts'

const contentOf = (timestamp: string, body: string | Uint8Array) =>
  ({ algorithm: 'sha256', pieces: [`${timestamp}.`, body] }) as const

/** https://docs.stripe.com/webhooks#verify-manually. The id of the event is a member of the body. */
export const stripe: Platform = {
  open: (toleranceSeconds = DEFAULT_TOLERANCE_SECONDS) => ({
    headers: [],
    async verify({ header, body, secrets, now }) {
      const parts = header('stripe-signature')?.split(',')
      if (parts === undefined) return missing('Stripe-Signature')
      const valuesOf = (name: string) =>
        parts.flatMap((part) => (part.trim().startsWith(`${name}=`) ? [part.trim().slice(name.length + 1)] : []))
      const [timestamp, ...others] = valuesOf('t')
      if (timestamp === undefined || others.length > 0) return refused('Stripe-Signature must have one timestamp')
      if (!isSigned(contentOf(timestamp, body), secrets.map(utf8), decodeAll(valuesOf('v1'), 'hex')))
        return WRONG_SIGNATURE
      const problem = timeProblem(timestamp, { now, toleranceSeconds })
      return problem ?? { kind: 'verified', deliveryId: textMember(jsonObjectIn(body), 'id') }
    },
    sign({ body, now }, secret) {
      const timestamp = String(Math.floor(now / 1_000))
      return { 'stripe-signature': `t=${timestamp},v1=${signatureOf(contentOf(timestamp, body), utf8(secret), 'hex')}` }
    },
  }),
}
