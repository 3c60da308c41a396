import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createConnectionAddressOf, type HttpApp } from '@perdure/http'
import { type Logger, perdureError, StartError } from '@perdure/ports'
import { createAnswerWriter } from './answer-writer.ts'
import { type ConnectionGate, type ConnectionGateOptions, createConnectionGate } from './connection-gate.ts'
import { destroyOnError } from './destroy-on-error.ts'
import { toHttpRequest } from './incoming-request.ts'
import { createOpenRequests, type OpenRequests } from './open-requests.ts'
import { answerParserError } from './parser-error.ts'
import { refuse, refuseOnSocket } from './refuse.ts'
import { createRequestTurns } from './request-turns.ts'
import { createStallCheck, type StallCheck } from './stall-check.ts'
import { createFindRefusal, unreadable } from './unreadable-request.ts'

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
  readonly onUpgrade?: ((incoming: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined
  readonly logger: Pick<Logger, 'debug' | 'error'>
}

export interface ListenerLimits extends Pick<ConnectionGateOptions, 'maxConnections' | 'maxConnectionsPerAddress'> {
  /** Clients at these addresses are proxies: the limit per address does not apply to them. */
  readonly trustProxy: number | readonly string[]
  /** A client that takes nothing for this long, while bytes of an answer wait for it, is disconnected. */
  readonly writeTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly headerLimitBytes: number
  readonly maxHeaders: number
}

const LONGEST_CHECK_INTERVAL_MS = 5_000
const MAX_REFUSED = 32
const REFUSED_MS = 500
const IDLE_CHECK_MS = 50
const ACCEPT_LOG_INTERVAL_MS = 10_000

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

/** What a listener knows about its connections. */
interface Connections {
  readonly openRequests: OpenRequests
  readonly stallCheck: StallCheck
}

/** Binds the address. @throws StartError `address-in-use`, `bind-failed` */
export async function listen(answering: Answering, address: Address & ListenerLimits): Promise<Listener> {
  const { logger } = answering
  const gate = createConnectionGate({ ...address, addressOf: createConnectionAddressOf(address.trustProxy) })
  const stallCheck = createStallCheck({
    timeoutMs: address.writeTimeoutMs,
    sockets: gate.sockets,
    onStalled: (waitingBytes) => logger.debug('disconnected a client that stopped reading', { waitingBytes }),
  })
  const connections = { openRequests: createOpenRequests(), stallCheck }
  const server = createHttpServer(answering, address, connections)
  refuseExcess(server, gate)
  const bound = await bind(server, address)
  server.on('error', createAcceptErrorLog(logger))
  const checking = setInterval(stallCheck.run, stallCheck.intervalMs).unref()
  return {
    host: address.host,
    port: bound.port,
    async close(graceMs) {
      await close(server, graceMs, gate)
      clearInterval(checking)
    },
  }
}

/** Every refusal carries the error envelope: Node would answer some requests itself, without a body. */
function createHttpServer(
  { answer, onUpgrade }: Answering,
  { host, ...limits }: Address & ListenerLimits,
  { openRequests, stallCheck }: Connections,
): Server {
  const hostname = host.includes(':') ? `[${host}]` : host
  const answers = createAnswerWriter({ onEventStream: ({ socket }, outgoing) => exemptWhileOpen(socket, outgoing) })
  const findRefusal = createFindRefusal(limits.maxHeaders)
  const turns = createRequestTurns()

  // An event stream and a WebSocket have a limit of their own: realtime.stallMs.
  const exemptWhileOpen = (socket: Socket, outgoing: ServerResponse) => {
    stallCheck.exempt(socket)
    outgoing.once('close', () => stallCheck.include(socket))
  }

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse, callForBody?: () => void) => {
    const request = toHttpRequest(incoming, hostname, callForBody)
    if (request === undefined) return refuse(incoming, outgoing, unreadable('header host: is not a valid host name'))
    await answers.send(incoming, outgoing, answer(request, { incoming }))
  }

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse, callForBody?: () => void) => {
    const { socket } = incoming
    if (turns.isFull(socket)) return openRequests.endAfterAnswers(socket)
    openRequests.add(incoming, outgoing)
    turns.take(socket, outgoing, () => startRequest(incoming, outgoing, callForBody))
  }

  const startRequest = (incoming: IncomingMessage, outgoing: ServerResponse, callForBody?: () => void) => {
    // While the server is closing, a client must not keep its connection open by sending more requests.
    if (!server.listening) outgoing.shouldKeepAlive = false
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
        if (refusal !== undefined) return refuseOnSocket(socket, refusal, incoming)
        stallCheck.exempt(socket)
        onUpgrade(incoming, socket, head)
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

/**
 * Logs that the system cannot accept a connection, for example because no descriptor is free, at most once in ten
 * seconds. Without this listener, the error would end the process.
 */
function createAcceptErrorLog(logger: Answering['logger']): (error: Error) => void {
  let isLogged = false
  return (error) => {
    if (isLogged) return
    isLogged = true
    logger.error('cannot accept a connection', error)
    setTimeout(() => {
      isLogged = false
    }, ACCEPT_LOG_INTERVAL_MS).unref()
  }
}

/** Answers a connection beyond a limit with 503, without reading a request. */
function refuseExcess(server: Server, gate: ConnectionGate): void {
  const [accept] = server.listeners('connection') as ((socket: Socket) => void)[]
  const refused = new Set<Socket>()
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    const error = gate.admit(socket)
    if (error === undefined) return accept?.call(server, socket)
    if (refused.size >= MAX_REFUSED) return socket.destroy()
    refused.add(socket)
    socket.on('error', destroyOnError).once('close', () => void refused.delete(socket))
    // Closing before the request has been read would reset the connection, and the client could lose the answer.
    socket.setTimeout(REFUSED_MS, () => socket.destroy()).resume()
    refuseOnSocket(socket, error)
  })
}

function bind(server: Server, { host, port }: Address): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
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
    }
    server.once('error', onError).listen({ host, port }, () => {
      server.off('error', onError)
      resolve(server.address() as AddressInfo)
    })
  })
}

async function close(server: Server, graceMs: number, gate: ConnectionGate): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // `server.close` ends only the connections that are idle at that moment.
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  const timeout = setTimeout(() => {
    // Unlike `server.closeAllConnections`, this includes the connections that Node has detached from its HTTP server.
    for (const socket of gate.sockets()) socket.destroy()
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
  else refuse(incoming, outgoing, perdureError('internal-error', { cause }))
}
