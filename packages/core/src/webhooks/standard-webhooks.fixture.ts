import { createHmac } from 'node:crypto'
import type { WebhookRequest } from '@perdure/ports'

/** Whether one of the signatures is that of the secret, by the algorithm of Standard Webhooks. */
export function matchesSignature(secret: string, request: WebhookRequest | undefined): boolean {
  if (request === undefined) return false
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = request.headers
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${request.body}`).digest('base64')
  return signatures.split(' ').includes(`v1,${expected}`)
}
