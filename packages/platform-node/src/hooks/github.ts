import { decodeAll, isSigned, missing, signatureOf, utf8, WRONG_SIGNATURE } from './hmac-signature.ts'
import type { Platform } from './platform.ts'

const PREFIX = 'sha256='
const contentOf = (body: string | Uint8Array) => ({ algorithm: 'sha256', pieces: [body] }) as const

/** https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries. The signature covers only the body. */
export const github: Platform = {
  open: () => ({
    headers: ['x-github-event', 'x-github-delivery', 'x-github-hook-id', 'x-github-hook-installation-target-id'],
    async verify({ header, body, secrets }) {
      const signature = header('x-hub-signature-256')
      if (signature === undefined) return missing('X-Hub-Signature-256')
      const given = signature.startsWith(PREFIX) ? [signature.slice(PREFIX.length)] : []
      if (!isSigned(contentOf(body), secrets.map(utf8), decodeAll(given, 'hex'))) return WRONG_SIGNATURE
      const deliveryId = header('x-github-delivery')
      return deliveryId === undefined ? missing('X-GitHub-Delivery') : { kind: 'verified', deliveryId }
    },
    sign: ({ deliveryId, body }, secret) => ({
      'x-github-delivery': deliveryId,
      'x-hub-signature-256': `${PREFIX}${signatureOf(contentOf(body), utf8(secret), 'hex')}`,
    }),
  }),
}
