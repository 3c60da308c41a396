import { isIP } from 'node:net'
import type { WebhookSender } from '@perdure/ports'
import { isPublicAddress } from '../outbound/public-address.ts'
import { isListed } from '../outbound/public-connection.ts'
import type { Resolve } from '../outbound/resolve.ts'

export interface WebhookSenderOptions {
  /** Hosts that may use http: and addresses that are not public; with the port, unless it is the default port. */
  readonly allowHosts: readonly string[]
  /** Replaces the resolver of the operating system. */
  readonly resolve?: Resolve | undefined
}

/** Sends webhook deliveries over HTTP. The code that sends is loaded with the first delivery. */
export function createWebhookSender({ allowHosts, resolve }: WebhookSenderOptions): WebhookSender {
  const isAllowed = (url: URL) => isListed(allowHosts, url)

  const refusalOf = (text: string): string | undefined => {
    const url = URL.parse(text)
    if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'the URL must begin with https:'
    if (url.username !== '' || url.password !== '') return 'the URL must not contain credentials'
    if (isAllowed(url)) return undefined
    if (url.protocol === 'http:') return `the URL must begin with https:, unless webhooks.allowHosts lists ${url.host}`
    const address = url.hostname.replace(/^\[|\]$/g, '')
    return isIP(address) !== 0 && !isPublicAddress(address) ? `${address} is not a public address` : undefined
  }

  return {
    refusalOf,
    async send(request) {
      const refusal = refusalOf(request.url)
      if (refusal !== undefined) return { error: refusal }
      const { sendWebhook } = await import('./send-webhook.ts')
      return sendWebhook(request, { isAllowed: isAllowed(new URL(request.url)), resolve })
    },
  }
}
