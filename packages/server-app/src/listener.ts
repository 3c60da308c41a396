import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { StartError } from '@berth/ports'
import { createAdaptorServer } from '@hono/node-server'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Listener extends Address {
  /** Stops accepting, waits up to `graceMs` for open connections, then cuts them. */
  close(graceMs: number): Promise<void>
}

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch']

const HEADER_BLOCK_BYTES = 16_384
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 72_000
const CHECK_EVERY_MS = 5_000

/** Binds the address. @throws StartError `address-in-use`, `bind-failed` */
export async function listen(fetch: Fetch, address: Address): Promise<Listener> {
  const server = createAdaptorServer({
    fetch,
    serverOptions: {
      maxHeaderSize: HEADER_BLOCK_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
    },
  }) as Server
  server.on('clientError', answerClientError)
  const bound = await bind(server, address)
  return { host: address.host, port: bound.port, close: (graceMs) => close(server, graceMs) }
}

function bind(server: Server, { host, port }: Address): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const message = `cannot listen on ${host}:${port}: ${error.message}`
      const isTaken = error.code === 'EADDRINUSE'
      reject(
        new StartError(isTaken ? 'address-in-use' : 'bind-failed', {
          message,
          hint: isTaken
            ? 'stop the other process or set another server.port (0 picks a free one)'
            : 'check server.host and server.port',
          cause: error,
        }),
      )
    })
    server.listen({ host, port }, () => resolve(server.address() as AddressInfo))
  })
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(cut)
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: string, error: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'headers-too-large', 'the header block is too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request-timeout', 'the request was not received in time'],
}

/** What Node's HTTP parser refuses still gets the envelope. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, code, message] = CLIENT_ERRORS[error.code ?? ''] ?? [
    '400 Bad Request',
    'validation-failed',
    'the request is not well-formed HTTP',
  ]
  const body = JSON.stringify({ error: code, message })
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}`
  socket.end(`${head}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`)
}
