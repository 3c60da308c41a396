import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type CredentialLoss, createSlidingWindow, type Principal, type WatchCredential } from '@berth/core'
import { AppError, type Clock, type IdGenerator } from '@berth/ports'
import { CLOSE_CODES, type CloseName, SUBPROTOCOL } from '@berth/protocol'
import type { WebSocket, WebSocketServer } from 'ws'
import { type Connection, type ConnectionDeps, createConnection, type Socket } from './connection.ts'
import { type Admission, admit, type CredentialDeps } from './credentials.ts'
import { readHandshake } from './handshake.ts'
import { createMethods, type MethodDeps } from './methods.ts'
import { createFramesOf } from './page-frames.ts'
import { type RecordedCallsDeps, withRecords } from './recorded-calls.ts'
import { createSeats } from './seats.ts'
import { MESSAGE_WINDOW_MS } from './web-socket-limits.ts'

export interface WebSocketsDeps
  extends Omit<ConnectionDeps, 'callMethod' | 'framesOf' | 'messages'>,
    Omit<MethodDeps, 'clock'>,
    RecordedCallsDeps,
    CredentialDeps {
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly watchCredential: WatchCredential
  /** Whether the server takes new connections. */
  readonly isReady: () => boolean
}

/** A request that asks for a WebSocket; its path, host, origin and rate are found good. */
export interface Upgrade {
  readonly incoming: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly clientAddress: string
  readonly requestId: string
}

/** The WebSockets of one server. */
export interface WebSockets {
  /**
   * Opens a WebSocket and says for whom. With a credential that is not good it is opened and closed at once with the code
   * that says so.
   *
   * @throws AppError before anything is written: `validation-failed`, `overloaded`, `server-draining`, `auth-locked-out`
   */
  accept(upgrade: Upgrade): Promise<Admission>
  /** Closes every connection with `server.shutdown`, opens no more, and resolves when all are gone. */
  closeAll(): Promise<void>
  /** Cuts what has not gone. */
  terminateAll(): void
  /** Open connections. */
  size(): number
  /** Subscriptions of all connections. */
  subscriptions(): number
}

const MAX_FRAGMENTS = 64
const REFUSED_LIVES_MS = 1_000
const MAX_REFUSED = 64
const RETRY_AFTER_MS = 1_000
const RETRY_SPREAD_MS = 5_000

const LOSSES: Readonly<Record<CredentialLoss, CloseName>> = {
  revoked: 'auth.revoked',
  expired: 'auth.invalid',
  'scopes-lost': 'auth.scope_denied',
}

export function createWebSockets(deps: WebSocketsDeps): WebSockets {
  const { clock, timers, logger, limits, ids, watchCredential, isReady } = deps
  const newConnectionId = () => `con_${Buffer.from(ids.randomBytes(16)).toString('hex')}`
  const callMethod = withRecords(createMethods(deps), deps)
  const framesOf = createFramesOf()
  const messages = createSlidingWindow(clock, {
    limit: limits.maxMessages,
    windowMs: MESSAGE_WINDOW_MS,
    maxKeys: 2 * limits.maxConnections,
  })
  let handshakes: Promise<WebSocketServer> | undefined
  const connectionDeps: ConnectionDeps = { ...deps, callMethod, framesOf, messages }
  const seats = createSeats(limits)
  const open = new Map<WebSocket, Connection>()
  const refused = new Set<WebSocket>()
  const emptied: (() => void)[] = []
  let isClosed = false
  let cancelBeat = () => {}

  const beat = () => {
    for (const connection of open.values()) connection.beat()
    cancelBeat = timers.after(limits.heartbeatMs, beat)
  }

  const forget = (socket: WebSocket) => {
    open.get(socket)?.closed()
    open.delete(socket)
    refused.delete(socket)
    if (open.size === 0) cancelBeat()
    if (open.size + refused.size === 0) for (const resolve of emptied.splice(0)) resolve()
  }

  /** Apart from the handshake, so that a listener, which lives as long as the socket, does not hold the request. */
  const attend = (webSocket: WebSocket) => {
    // What a client sends wrong is its own affair; ws closes with the code for it.
    webSocket.on('error', (error) => logger.debug('WebSocket error', { message: error.message }))
    webSocket.once('close', () => forget(webSocket))
  }

  const loadHandshakes = async () => {
    const { WebSocketServer } = await import('ws')
    return new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
      ...{ maxPayload: limits.maxFrameBytes, maxFragments: MAX_FRAGMENTS },
      handleProtocols: () => SUBPROTOCOL,
    })
  }

  const shake = (server: WebSocketServer, { incoming, socket, head }: Upgrade): Promise<WebSocket> =>
    new Promise((resolve) => {
      server.handleUpgrade(incoming, socket, head, (webSocket) => {
        attend(webSocket)
        resolve(webSocket)
      })
    })

  /** Never registered, reads nothing, and gone within a second. */
  const turnAway = (socket: WebSocket, closeAs: CloseName) => {
    refused.add(socket)
    socket.close(CLOSE_CODES[closeAs].code, closeAs)
    const cancel = timers.after(REFUSED_LIVES_MS, () => socket.terminate())
    socket.once('close', cancel)
  }

  const register = (
    socket: WebSocket,
    { upgrade, principal }: { readonly upgrade: Upgrade; readonly principal: Principal },
  ) => {
    const { socket: wire, requestId, clientAddress } = upgrade
    const connectionId = newConnectionId()
    const connection = createConnection(connectionDeps, {
      connectionId,
      principal,
      requestId,
      clientAddress,
      socket: toSocket(socket, wire),
    })
    if (open.size === 0) cancelBeat = timers.after(limits.heartbeatMs, beat)
    open.set(socket, connection)
    socket.on('message', (data, isBinary) => {
      if (isBinary) connection.receiveBinary()
      else connection.receive(data.toString())
    })
    socket.on('pong', connection.pong)
    if (principal.tokenId === undefined) return
    socket.once(
      'close',
      watchCredential(principal.tokenId, (loss) => connection.close(LOSSES[loss])),
    )
  }

  const enter = async (upgrade: Upgrade, protocols: readonly string[]): Promise<Admission> => {
    // Of no use before somebody comes.
    handshakes ??= loadHandshakes()
    const server = await handshakes
    const { authorization, origin } = upgrade.incoming.headers
    const admission = await admit(deps, { authorization, protocols, origin, clientAddress: upgrade.clientAddress })
    refuseWhenClosed()
    if ('closeAs' in admission) {
      if (refused.size >= MAX_REFUSED) throw admission.error
      turnAway(await shake(server, upgrade), admission.closeAs)
      return admission
    }
    const leave = seats.take(admission.principal.tokenId)
    upgrade.socket.once('close', leave)
    if (!upgrade.socket.readable || !upgrade.socket.writable) hangUp(upgrade.socket, leave)
    else register(await shake(server, upgrade), { upgrade, principal: admission.principal })
    return admission
  }

  const refuseWhenClosed = () => {
    if (isClosed || !isReady()) throw new AppError('server-draining', { retryAfterMs: RETRY_AFTER_MS })
  }

  return {
    async accept(upgrade) {
      refuseWhenClosed()
      const protocols = readHandshake(upgrade.incoming)
      const leave = seats.wait()
      try {
        return await enter(upgrade, protocols)
      } finally {
        leave()
      }
    },
    async closeAll() {
      isClosed = true
      const [random = 0] = ids.randomBytes(1)
      const retryAfterMs = Math.round((random / 255) * RETRY_SPREAD_MS)
      for (const connection of open.values()) connection.close('server.shutdown', { retryAfterMs })
      if (open.size + refused.size === 0) return
      await new Promise<void>((resolve) => emptied.push(resolve))
    },
    terminateAll() {
      for (const socket of [...open.keys(), ...refused]) socket.terminate()
    },
    size: () => open.size,
    subscriptions() {
      let count = 0
      for (const connection of open.values()) count += connection.subscriptions()
      return count
    },
  }
}

function hangUp(socket: Duplex, leave: () => void): void {
  leave()
  socket.destroy()
}

const toSocket = (socket: WebSocket, wire: Duplex): Socket => ({
  unsentBytes: () => socket.bufferedAmount,
  send: (message, onWritten) => socket.send(message, onWritten),
  // Without compression a frame is written at once and whole, so those of ws and these never mix. After a close frame none
  // may follow: ws then only counts them.
  sendFrames(frames, onWritten) {
    if (socket.readyState === socket.OPEN) wire.write(frames, onWritten)
    else socket.send(frames, onWritten)
  },
  close: (code, reason) => socket.close(code, reason),
  ping: () => socket.ping(),
  terminate: () => socket.terminate(),
})
