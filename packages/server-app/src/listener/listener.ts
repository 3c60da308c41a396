import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HttpApp } from '@perdure/http'
import { AppError, StartError } from '@perdure/ports'
import { endBroken } from './end-broken.ts'
import { toHttpRequest } from './incoming-request.ts'
import { answerParserError } from './parser-error.ts'
import { refuse, refuseOn } from './refuse.ts'
import { sendAnswer } from './send-answer.ts'
import { createUnanswered, type Unanswered } from './unanswered.ts'
import { refusalOf, unreadable } from './unreadable-request.ts'
import type { OnUpgrade } from './upgrades.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Listener extends Address {
  /** Stops accepting, waits up to `graceMs` for open connections, then cuts them. */
  close(graceMs: number): Promise<void>
}

export interface Answering {
  readonly answer: HttpApp['answer']
  /** Without it, requests that ask for another protocol are answered as if they did not. */
  readonly onUpgrade?: OnUpgrade | undefined
}

/** What a client may send, and how long it may take. */
export interface ListenerLimits {
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly headerLimitBytes: number
  readonly maxHeaders: number
}

const LONGEST_CHECK_INTERVAL_MS = 5_000
const SWEEP_MS = 50

/** Headers are part of a request, so they cannot take longer than one. */
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

/** An offer of HTTP/2 is declined by answering in HTTP/1.1. Releases of Node that do not know the option upgrade all. */
const UPGRADE_OPTIONS: object = {
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
}

/** Binds the address. @throws StartError `address-in-use`, `bind-failed` */
export async function listen(answering: Answering, address: Address & ListenerLimits): Promise<Listener> {
  const unanswered = createUnanswered()
  const server = serve(answering, address, unanswered)
  const bound = await bind(server, address)
  return { host: address.host, port: bound.port, close: (graceMs) => close(server, graceMs, unanswered) }
}

/** Every request gets the envelope or what `answer` answers; none gets an empty refusal of Node's own. */
function serve(
  { answer, onUpgrade }: Answering,
  { host, ...limits }: Address & ListenerLimits,
  unanswered: Unanswered,
): Server {
  const hostname = host.includes(':') ? `[${host}]` : host

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse, callForBody?: () => void) => {
    const request = toHttpRequest(incoming, hostname, callForBody)
    if (request === undefined) return refuse(incoming, outgoing, unreadable('header host: is not written like a name'))
    await sendAnswer(incoming, outgoing, answer(request, { incoming, outgoing }))
  }

  const take = (incoming: IncomingMessage, outgoing: ServerResponse, callForBody?: () => void) => {
    // A connection outlives the listener by one answer: who goes on asking must not hold up its end.
    if (!server.listening) outgoing.shouldKeepAlive = false
    unanswered.add(incoming, outgoing)
    const refusal = refusalOf(incoming, limits.maxHeaders)
    if (refusal === undefined)
      pass(incoming, outgoing, callForBody).catch((cause) => answerFailure(incoming, outgoing, cause))
    else refuse(incoming, outgoing, refusal)
  }

  const server = createServer({ ...serverOptionsOf(limits), ...UPGRADE_OPTIONS }, (incoming, outgoing) =>
    take(incoming, outgoing),
  )
  // Who ends its half of the connection after a request still gets the answer, and then the end.
  Object.assign(server, { httpAllowHalfOpen: true })
  if (onUpgrade !== undefined) {
    server.on('upgrade', (incoming, socket, head) => {
      socket.on('error', endBroken)
      const refusal = refusalOf(incoming, limits.maxHeaders)
      unanswered.inTurn(socket, () => {
        if (refusal !== undefined) refuseOn(socket, refusal, incoming)
        else onUpgrade(incoming, socket, head)
      })
    })
  }
  server.maxHeadersCount = 0 // Node drops what is beyond; refusalOf counts.
  server.on('checkExpectation', (incoming, outgoing) => take(incoming, outgoing))
  server.on('checkContinue', (incoming, outgoing) => {
    let isCalledFor = false
    take(incoming, outgoing, () => {
      if (!isCalledFor) outgoing.writeContinue()
      isCalledFor = true
    })
  })
  server.on('connect', (incoming, socket) => refuseTunnel(incoming, socket, unanswered))
  server.on('clientError', (error, socket) => answerParserError(error, socket, unanswered))
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

async function close(server: Server, graceMs: number, unanswered: Unanswered): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Those that are answering now are idle a moment later.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  const cut = setTimeout(() => {
    server.closeAllConnections()
    unanswered.cutWaiting()
  }, graceMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}

/** Node leaves the socket of a CONNECT to whoever listens: nobody else closes it or hears its errors. */
function refuseTunnel(incoming: IncomingMessage, socket: Duplex, unanswered: Unanswered): void {
  socket.on('error', endBroken)
  socket.once('finish', () => socket.destroy())
  unanswered.inTurn(socket, () => refuseOn(socket, unreadable('this server is no proxy'), incoming))
}

function answerFailure(incoming: IncomingMessage, outgoing: ServerResponse, cause: unknown): void {
  if (outgoing.headersSent) outgoing.destroy()
  else refuse(incoming, outgoing, new AppError('internal-error', { cause }))
}
