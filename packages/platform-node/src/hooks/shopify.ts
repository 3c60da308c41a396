import { decodeAll, isSigned, missing, signatureOf, utf8, WRONG_SIGNATURE } from './hmac-signature.ts'
import type { Platform } from './platform.ts'

const contentOf = (body: string | Uint8Array) => ({ algorithm: 'sha256', pieces: [body] }) as const

/** https://shopify.dev/docs/apps/build/webhooks. The signature covers only the body. */
export const shopify: Platform = {
  open: () => ({
    headers: [
      'x-shopify-topic',
      'x-shopify-shop-domain',
      'x-shopify-webhook-id',
      'x-shopify-event-id',
      'x-shopify-api-version',
      'x-shopify-triggered-at',
    ],
    async verify({ header, body, secrets }) {
      const signature = header('x-shopify-hmac-sha256')
      if (signature === undefined) return missing('X-Shopify-Hmac-SHA256')
      if (!isSigned(contentOf(body), secrets.map(utf8), decodeAll([signature], 'base64'))) return WRONG_SIGNATURE
      const deliveryId = header('x-shopify-webhook-id')
      return deliveryId === undefined ? missing('X-Shopify-Webhook-Id') : { kind: 'verified', deliveryId }
    },
    sign: ({ deliveryId, body }, secret) => ({
      'x-shopify-webhook-id': deliveryId,
      'x-shopify-hmac-sha256': signatureOf(contentOf(body), utf8(secret), 'base64'),
    }),
  }),
}
