import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Principal, WatchCredential } from '@perdure/core'
import { type IdGenerator, type Logger, perdureError, type Timers } from '@perdure/ports'
import { CLOSE_CODES, type CloseName } from '@perdure/protocol'
import type { RawData, WebSocket, WebSocketServer } from 'ws'
import type { Connection } from './connection.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { Connections } from './connections.ts'
import type { Admission, PresentedCredentials } from './credentials.ts'
import { CLOSE_NAMES } from './credentials.ts'
import type { IncomingUpgrade, UpgradeSocket } from './incoming-upgrade.ts'
import type { WebSocketLimits } from './web-socket-limits.ts'

export interface SocketServerDeps {
  readonly timers: Timers
  readonly logger: Logger
  readonly limits: Pick<WebSocketLimits, 'heartbeatMs'>
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly watchCredential: WatchCredential
  /** Whether the server accepts new connections. */
  readonly isReady: () => boolean
  /** Loads the module `ws` on the first upgrade. Not typed as such: the declarations must not need the types of `ws`. */
  readonly loadLibrary?: (() => Promise<unknown>) | undefined
  /** All kinds of WebSockets share the limits. */
  readonly connectionLimits: ConnectionLimits
}

/** What one kind of WebSockets does with its connections. */
export interface SocketKind {
  readonly connections: Connections
  readonly maxFrameBytes: number
  /** The subprotocols that the upgrade offers. @throws PerdureError `validation-failed` */
  readHandshake(incoming: IncomingUpgrade): readonly string[]
  admit(shown: PresentedCredentials, upgrade: Upgrade): Promise<Admission>
  /** The subprotocol of the response. */
  selectProtocol(offered: ReadonlySet<string>): string | false
}

/** An upgrade request whose path, host, origin and rate limit have been checked. */
export interface Upgrade {
  readonly incoming: IncomingUpgrade
  readonly socket: UpgradeSocket
  readonly head: Uint8Array
  readonly clientAddress: string
  readonly requestId: string
  /** The operation that the path names. */
  readonly operationId: string
  /** The parameters of the path. */
  readonly params?: Readonly<Record<string, string>> | undefined
}

/** An upgrade request as `ws` takes it. */
interface NodeUpgrade extends Upgrade {
  readonly incoming: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** The WebSockets of one kind. */
export interface SocketServer {
  /**
   * Opens a WebSocket and returns its principal. If the credential is rejected, the WebSocket is opened and closed at
   * once with the matching close code.
   *
   * @throws PerdureError before anything is written: `validation-failed`, `overloaded`, `server-draining`, `auth-locked-out`
   */
  accept(upgrade: Upgrade): Promise<Admission>
  /** Closes every connection with `server.shutdown`, refuses new ones, and resolves when all have closed. */
  closeAll(): Promise<void>
  /** Destroys the connections that are still open. */
  terminateAll(): void
  /** Number of open connections. */
  size(): number
  /** Number of subscriptions on all connections. */
  subscriptions(): number
}

const MAX_FRAGMENTS = 64
const REFUSED_CLOSE_TIMEOUT_MS = 1_000
const MAX_REFUSED = 64
const RETRY_AFTER_MS = 1_000
const MAX_RECONNECT_DELAY_MS = 5_000

export function createSocketServer(deps: SocketServerDeps, kind: SocketKind): SocketServer {
  const { timers, logger, limits, ids, watchCredential, isReady, connectionLimits } = deps
  const { loadLibrary = () => import('ws') } = deps
  const { connections } = kind
  const newConnectionId = () => `con_${Buffer.from(ids.randomBytes(16)).toString('hex')}`
  let loadingServer: Promise<WebSocketServer> | undefined
  const open = new Map<WebSocket, Connection>()
  const refused = new Set<WebSocket>()
  const emptyWaiters: (() => void)[] = []
  let isClosed = false
  let cancelBeat = () => {}

  const beat = () => {
    for (const connection of open.values()) connections.beat(connection)
    cancelBeat = timers.after(limits.heartbeatMs, beat)
  }

  const remove = (socket: WebSocket) => {
    const connection = open.get(socket)
    if (connection !== undefined) release(connection)
    open.delete(socket)
    refused.delete(socket)
    if (open.size === 0) cancelBeat()
    if (open.size + refused.size === 0) for (const resolve of emptyWaiters.splice(0)) resolve()
  }

  const release = (connection: Connection) => {
    connections.closed(connection)
    connection.unwatchToken?.()
    connectionLimits.release(connection.principal.tokenId)
  }

  // Shared listeners that find their socket in `this`: a closure per socket would outweigh the rest of its state.

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
    remove(this)
  }

  // Client protocol errors are not server errors; ws closes the socket with the right code.
  const onError = (error: Error) => logger.debug('WebSocket error', { message: error.message })

  const loadServer = async () => {
    const library = await loadLibrary().catch((cause: unknown) => {
      // A later upgrade tries again: the cause may be temporary, such as a lack of file descriptors.
      loadingServer = undefined
      logger.error('cannot load the WebSocket library', cause)
      const message = 'the server cannot open WebSockets at the moment'
      throw perdureError('overloaded', { message, retryAfter: RETRY_AFTER_MS, cause })
    })
    const { WebSocketServer } = library as Pick<typeof import('ws'), 'WebSocketServer'>
    return new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
      ...{ maxPayload: kind.maxFrameBytes, maxFragments: MAX_FRAGMENTS },
      handleProtocols: kind.selectProtocol,
    })
  }

  /** Returns `undefined` if the client has disconnected; ws then destroys the connection. */
  const completeHandshake = (
    server: WebSocketServer,
    { incoming, socket, head }: NodeUpgrade,
  ): WebSocket | undefined => {
    let opened: WebSocket | undefined
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      webSocket.on('error', onError)
      webSocket.on('close', onClose)
      opened = webSocket
    })
    return opened
  }

  /** Closes a socket that was never registered, and terminates it if it is still open after a second. */
  const closeRefused = (socket: WebSocket, closeAs: CloseName) => {
    refused.add(socket)
    socket.close(CLOSE_CODES[closeAs].code, closeAs)
    const cancel = timers.after(REFUSED_CLOSE_TIMEOUT_MS, () => socket.terminate())
    socket.once('close', cancel)
  }

  const register = (
    socket: WebSocket,
    { upgrade, principal }: { readonly upgrade: NodeUpgrade; readonly principal: Principal },
  ) => {
    const { socket: wire, requestId, clientAddress, params, incoming } = upgrade
    const connectionId = newConnectionId()
    const connection = connections.open({
      ...{ connectionId, principal, requestId, clientAddress, socket, wire },
      ...{ params, host: incoming.headers.host },
    })
    if (open.size === 0) cancelBeat = timers.after(limits.heartbeatMs, beat)
    open.set(socket, connection)
    socket.on('message', onMessage)
    socket.on('pong', onPong)
    if (principal.tokenId === undefined) return
    connection.unwatchToken = watchCredential(principal.tokenId, (loss) =>
      connections.close(connection, CLOSE_NAMES[loss]),
    )
  }

  const authenticateAndOpen = async (upgrade: NodeUpgrade, protocols: readonly string[]): Promise<Admission> => {
    loadingServer ??= loadServer()
    const server = await loadingServer
    const { authorization, origin } = upgrade.incoming.headers
    const admission = await kind.admit(
      { authorization, protocols, origin, clientAddress: upgrade.clientAddress },
      upgrade,
    )
    refuseWhenDraining()
    if ('closeAs' in admission) {
      if (refused.size >= MAX_REFUSED) throw admission.error
      const socket = completeHandshake(server, upgrade)
      if (socket !== undefined) closeRefused(socket, admission.closeAs)
      return admission
    }
    const { principal } = admission
    connectionLimits.acquire(principal.tokenId)
    const socket = completeHandshake(server, upgrade)
    if (socket === undefined) connectionLimits.release(principal.tokenId)
    else register(socket, { upgrade, principal })
    return admission
  }

  const refuseWhenDraining = () => {
    if (isClosed || !isReady()) throw perdureError('server-draining', { retryAfter: RETRY_AFTER_MS })
  }

  return {
    async accept(upgrade: NodeUpgrade) {
      refuseWhenDraining()
      const protocols = kind.readHandshake(upgrade.incoming)
      connectionLimits.reserve()
      try {
        return await authenticateAndOpen(upgrade, protocols)
      } finally {
        connectionLimits.cancelReservation()
      }
    },
    async closeAll() {
      isClosed = true
      const [random = 0] = ids.randomBytes(1)
      const retryAfterMs = Math.round((random / 255) * MAX_RECONNECT_DELAY_MS)
      for (const connection of open.values()) connections.close(connection, 'server.shutdown', { retryAfterMs })
      if (open.size + refused.size === 0) return
      await new Promise<void>((resolve) => emptyWaiters.push(resolve))
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
