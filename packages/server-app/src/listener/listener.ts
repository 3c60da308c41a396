import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HttpApp } from '@perdure/http'
import { AppError, StartError } from '@perdure/ports'
import { createAnswerWriter } from './answer-writer.ts'
import { destroyOnError } from './destroy-on-error.ts'
import { toHttpRequest } from './incoming-request.ts'
import { createOpenRequests, type OpenRequests } from './open-requests.ts'
import { answerParserError } from './parser-error.ts'
import { refuse, refuseOnSocket } from './refuse.ts'
import { createFindRefusal, unreadable } from './unreadable-request.ts'
import type { OnUpgrade } from './upgrades.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Listener extends Address {
  /** Stops accepting connections, waits up to `graceMs` for open connections, then destroys them. */
  close(graceMs: number): Promise<void>
}

export interface Answering {
  readonly answer: HttpApp['answer']
  /** If omitted, an upgrade request is answered like any other request. */
  readonly onUpgrade?: OnUpgrade | undefined
}

export interface ListenerLimits {
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly headerLimitBytes: number
  readonly maxHeaders: number
}

const LONGEST_CHECK_INTERVAL_MS = 5_000
const IDLE_CHECK_MS = 50

function serverOptionsOf({ headersTimeoutMs, requestTimeoutMs, headerLimitBytes }: ListenerLimits): ServerOptions {
  const headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs)
  return {
    maxHeaderSize: headerLimitBytes,
    requireHostHeader: false,
    headersTimeout,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: 72_000,
    connectionsCheckingInterval: Math.min(LONGEST_CHECK_INTERVAL_MS, headersTimeout),
  }
}

/**
 * Ignores offers of HTTP/2 (`Upgrade: h2c`). Node releases that do not know this option emit `upgrade` for every
 * protocol.
 */
const UPGRADE_OPTIONS: object = {
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
}

/** Binds the address. @throws StartError `address-in-use`, `bind-failed` */
export async function listen(answering: Answering, address: Address & ListenerLimits): Promise<Listener> {
  const openRequests = createOpenRequests()
  const server = createHttpServer(answering, address, openRequests)
  const bound = await bind(server, address)
  return { host: address.host, port: bound.port, close: (graceMs) => close(server, graceMs, openRequests) }
}

/** Every refusal carries the error envelope: Node would answer some requests itself, without a body. */
function createHttpServer(
  { answer, onUpgrade }: Answering,
  { host, ...limits }: Address & ListenerLimits,
  openRequests: OpenRequests,
): Server {
  const hostname = host.includes(':') ? `[${host}]` : host
  const answers = createAnswerWriter()
  const findRefusal = createFindRefusal(limits.maxHeaders)

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse, callForBody?: () => void) => {
    const request = toHttpRequest(incoming, hostname, callForBody)
    if (request === undefined) return refuse(incoming, outgoing, unreadable('header host: is not a valid host name'))
    await answers.send(incoming, outgoing, answer(request, { incoming, outgoing }))
  }

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse, callForBody?: () => void) => {
    // While the server is closing, a client must not keep its connection open by sending more requests.
    if (!server.listening) outgoing.shouldKeepAlive = false
    openRequests.add(incoming, outgoing)
    const refusal = findRefusal(incoming)
    if (refusal === undefined)
      respond(incoming, outgoing, callForBody).catch((cause) => answerFailure(incoming, outgoing, cause))
    else refuse(incoming, outgoing, refusal)
  }

  const server = createServer({ ...serverOptionsOf(limits), ...UPGRADE_OPTIONS }, (incoming, outgoing) =>
    onRequest(incoming, outgoing),
  )
  // A client that ends its half of the connection after a request still gets the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  if (onUpgrade !== undefined) {
    server.on('upgrade', (incoming, socket, head) => {
      socket.on('error', destroyOnError)
      const refusal = findRefusal(incoming)
      openRequests.whenFree(socket, () => {
        if (refusal !== undefined) refuseOnSocket(socket, refusal, incoming)
        else onUpgrade(incoming, socket, head)
      })
    })
  }
  server.maxHeadersCount = 0 // Node would silently drop the excess fields; findRefusal counts them instead.
  server.on('checkExpectation', (incoming, outgoing) => onRequest(incoming, outgoing))
  server.on('checkContinue', (incoming, outgoing) => {
    let isCalledFor = false
    onRequest(incoming, outgoing, () => {
      if (!isCalledFor) outgoing.writeContinue()
      isCalledFor = true
    })
  })
  server.on('connect', (incoming, socket) => refuseTunnel(incoming, socket, openRequests))
  const parserErrorDeps = { answers, openRequests }
  server.on('clientError', (error, socket) => answerParserError(error, socket, parserErrorDeps))
  return server
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

async function close(server: Server, graceMs: number, openRequests: OpenRequests): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // `server.close` ends only the connections that are idle at that moment.
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  const timeout = setTimeout(() => {
    server.closeAllConnections()
    openRequests.destroyWaiting()
  }, graceMs)
  await closed
  clearInterval(idleCheck)
  clearTimeout(timeout)
}

/** Node detaches the socket of a CONNECT request: Node then neither closes the socket nor handles its errors. */
function refuseTunnel(incoming: IncomingMessage, socket: Duplex, openRequests: OpenRequests): void {
  socket.on('error', destroyOnError)
  socket.once('finish', () => socket.destroy())
  openRequests.whenFree(socket, () => refuseOnSocket(socket, unreadable('this server is not a proxy'), incoming))
}

function answerFailure(incoming: IncomingMessage, outgoing: ServerResponse, cause: unknown): void {
  if (outgoing.headersSent) outgoing.destroy()
  else refuse(incoming, outgoing, new AppError('internal-error', { cause }))
}
