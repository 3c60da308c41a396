import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { WebhookRequest, WebhookResponse } from '@perdure/ports'
import { checkConnection, messageOf, publicOnly } from '../outbound/public-connection.ts'
import type { Resolve } from '../outbound/resolve.ts'

export interface SendOptions {
  /** The operator allows this host: its addresses need not be public. */
  readonly isAllowed: boolean
  readonly resolve?: Resolve | undefined
}

const MAX_BODY_BYTES = 4_096

/** Sends one request on a connection of its own. */
export function sendWebhook(
  { url, headers, body, timeoutMs, signal }: WebhookRequest,
  { isAllowed, resolve }: SendOptions,
): Promise<WebhookResponse> {
  const { promise, resolve: settle } = Promise.withResolvers<WebhookResponse>()
  const timeout = AbortSignal.timeout(timeoutMs)
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  const options = {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal: AbortSignal.any([signal, timeout]),
    ...(isAllowed ? {} : publicOnly(resolve)),
  }
  let request: ClientRequest
  try {
    request = send(url, options)
  } catch (error) {
    return Promise.resolve({ error: messageOf(error) })
  }
  request.on('error', (error) =>
    settle({ error: timeout.aborted ? `no response within ${timeoutMs} ms` : messageOf(error) }),
  )
  if (!isAllowed) checkConnection(request)
  request.on('response', (response: IncomingMessage) => {
    settle({ status: response.statusCode ?? 0, retryAfterMs: retryAfterOf(response.headers['retry-after']) })
    discardBody(response)
  })
  request.end(body)
  return promise
}

/** Reads a little, so that the receiver can end its answer in order. */
function discardBody(response: IncomingMessage): void {
  let bytes = 0
  response.on('error', () => undefined)
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) response.destroy()
  })
}

function retryAfterOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
