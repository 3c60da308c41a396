import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { CredentialLoss, Principal, WatchCredential } from '@perdure/core'
import { AppError, type IdGenerator } from '@perdure/ports'
import { CLOSE_CODES, type CloseName, SUBPROTOCOL } from '@perdure/protocol'
import type { RawData, WebSocket, WebSocketServer } from 'ws'
import type { Connection } from './connection.ts'
import { type ConnectionsDeps, createConnections } from './connections.ts'
import { type Admission, admit, type CredentialDeps } from './credentials.ts'
import { readHandshake } from './handshake.ts'
import { createSeats } from './seats.ts'

export interface WebSocketsDeps extends ConnectionsDeps, CredentialDeps {
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
  const { timers, logger, limits, ids, watchCredential, isReady } = deps
  const newConnectionId = () => `con_${Buffer.from(ids.randomBytes(16)).toString('hex')}`
  const connections = createConnections(deps)
  let handshakes: Promise<WebSocketServer> | undefined
  const seats = createSeats(limits)
  const open = new Map<WebSocket, Connection>()
  const refused = new Set<WebSocket>()
  const emptied: (() => void)[] = []
  let isClosed = false
  let cancelBeat = () => {}

  const beat = () => {
    for (const connection of open.values()) connections.beat(connection)
    cancelBeat = timers.after(limits.heartbeatMs, beat)
  }

  const forget = (socket: WebSocket) => {
    const connection = open.get(socket)
    if (connection !== undefined) leave(connection)
    open.delete(socket)
    refused.delete(socket)
    if (open.size === 0) cancelBeat()
    if (open.size + refused.size === 0) for (const resolve of emptied.splice(0)) resolve()
  }

  const leave = (connection: Connection) => {
    connections.closed(connection)
    connection.unwatchToken?.()
    seats.release(connection.principal.tokenId)
  }

  // Of all sockets, on which they are called: what only one socket calls would cost more than all it knows.

  function onMessage(this: WebSocket, data: RawData, isBinary: boolean) {
    const connection = open.get(this)
    if (connection === undefined) return
    if (isBinary) connections.receiveBinary(connection)
    else connections.receive(connection, data.toString())
  }

  function onPong(this: WebSocket) {
    const connection = open.get(this)
    if (connection !== undefined) connections.pong(connection)
  }

  function onClose(this: WebSocket) {
    forget(this)
  }

  // What a client sends wrong is its own affair; ws closes with the code for it.
  const onError = (error: Error) => logger.debug('WebSocket error', { message: error.message })

  const loadHandshakes = async () => {
    const { WebSocketServer } = await import('ws')
    return new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
      ...{ maxPayload: limits.maxFrameBytes, maxFragments: MAX_FRAGMENTS },
      handleProtocols: () => SUBPROTOCOL,
    })
  }

  /** Nothing when the client is gone: ws has ended what was left of its connection. */
  const shake = (server: WebSocketServer, { incoming, socket, head }: Upgrade): WebSocket | undefined => {
    let opened: WebSocket | undefined
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      webSocket.on('error', onError)
      webSocket.on('close', onClose)
      opened = webSocket
    })
    return opened
  }

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
    const connection = connections.open({ connectionId, principal, requestId, clientAddress, socket, wire })
    if (open.size === 0) cancelBeat = timers.after(limits.heartbeatMs, beat)
    open.set(socket, connection)
    socket.on('message', onMessage)
    socket.on('pong', onPong)
    if (principal.tokenId === undefined) return
    connection.unwatchToken = watchCredential(principal.tokenId, (loss) => connections.close(connection, LOSSES[loss]))
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
      const socket = shake(server, upgrade)
      if (socket !== undefined) turnAway(socket, admission.closeAs)
      return admission
    }
    const { principal } = admission
    seats.take(principal.tokenId)
    const socket = shake(server, upgrade)
    if (socket === undefined) seats.release(principal.tokenId)
    else register(socket, { upgrade, principal })
    return admission
  }

  const refuseWhenClosed = () => {
    if (isClosed || !isReady()) throw new AppError('server-draining', { retryAfterMs: RETRY_AFTER_MS })
  }

  return {
    async accept(upgrade) {
      refuseWhenClosed()
      const protocols = readHandshake(upgrade.incoming)
      seats.wait()
      try {
        return await enter(upgrade, protocols)
      } finally {
        seats.leave()
      }
    },
    async closeAll() {
      isClosed = true
      const [random = 0] = ids.randomBytes(1)
      const retryAfterMs = Math.round((random / 255) * RETRY_SPREAD_MS)
      for (const connection of open.values()) connections.close(connection, 'server.shutdown', { retryAfterMs })
      if (open.size + refused.size === 0) return
      await new Promise<void>((resolve) => emptied.push(resolve))
    },
    terminateAll() {
      for (const socket of [...open.keys(), ...refused]) socket.terminate()
    },
    size: () => open.size,
    subscriptions() {
      let count = 0
      for (const connection of open.values()) count += connection.subscriptions.length
      return count
    },
  }
}
