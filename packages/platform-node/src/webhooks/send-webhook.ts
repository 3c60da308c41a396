import { type LookupAddress, lookup as resolveName } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import type { WebhookRequest, WebhookResponse } from '@perdure/ports'
import { isPublicAddress } from './public-address.ts'

/** Resolves a name to all of its addresses. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>

export interface SendOptions {
  /** The operator allows this host: its addresses need not be public. */
  readonly isAllowed: boolean
  readonly resolve?: Resolve | undefined
}

const MAX_BODY_BYTES = 4_096

/**
 * Sends one request on a connection of its own. A name is resolved once, and the connection is opened to the addresses
 * that were checked, so a name that resolves differently the second time gains nothing.
 */
export function sendWebhook(
  { url, headers, body, timeoutMs, signal }: WebhookRequest,
  { isAllowed, resolve = resolveAll }: SendOptions,
): Promise<WebhookResponse> {
  const { promise, resolve: settle } = Promise.withResolvers<WebhookResponse>()
  const timeout = AbortSignal.timeout(timeoutMs)
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  const options = {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal: AbortSignal.any([signal, timeout]),
    ...(isAllowed ? {} : { lookup: publicLookup(resolve) }),
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
  request.on('socket', (socket: Socket) => {
    if (!isAllowed) socket.once('connect', () => checkConnection(socket, request))
  })
  request.on('response', (response: IncomingMessage) => {
    settle({ status: response.statusCode ?? 0, retryAfterMs: retryAfterOf(response.headers['retry-after']) })
    discardBody(response)
  })
  request.end(body)
  return promise
}

/** A literal address in the URL is never looked up, so the connection itself is checked too, before anything is sent. */
function checkConnection({ remoteAddress = '' }: Socket, request: ClientRequest): void {
  if (!isPublicAddress(remoteAddress)) request.destroy(notPublic(remoteAddress))
}

const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (name, { all }, done) => {
    resolve(name).then(
      (addresses) => {
        const [first] = addresses
        const refused = addresses.find(({ address }) => !isPublicAddress(address))
        if (refused !== undefined) done(notPublic(refused.address, name), [])
        else if (first === undefined) done(new Error(`${name} has no address`), [])
        else if (all === true) done(null, [...addresses])
        else done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, []),
    )
  }

const notPublic = (address: string, name?: string) =>
  new Error(`${name === undefined ? address : `${name} resolves to ${address}, which`} is not a public address`)

const resolveAll: Resolve = (name) => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>()
  resolveName(name, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
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

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
