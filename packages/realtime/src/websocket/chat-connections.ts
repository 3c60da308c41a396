import { type Principal, takeFrom } from '@perdure/core'
import type { Clock, Logger, Timers } from '@perdure/ports'
import { createDeadline } from '../deadline.ts'
import { createClosing } from './closing.ts'
import { type Connection, newConnection } from './connection.ts'
import type { Connections } from './connections.ts'
import { MESSAGE_WINDOW_MS, type WebSocketLimits } from './web-socket-limits.ts'

/** The client of a chat. */
export interface ChatPeer {
  readonly principal: Principal
  readonly clientAddress: string
  /** The Host header of the upgrade. */
  readonly host: string | undefined
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>
  /** Sends a text; resolves when the client may get more. */
  send(text: string): Promise<void>
  /** Closes the connection of a client that violates the protocol. */
  refuse(): void
}

/** Handles the messages of one client. */
export interface Chat {
  receive(text: string): void
  /** The connection has ended. */
  close(): void
}

export type OpenChat = (peer: ChatPeer) => Promise<Chat>

export interface ChatConnectionsDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly limits: Pick<WebSocketLimits, 'maxMessages'>
  /** A client that reads nothing for this long, while a text waits for it, is disconnected. */
  readonly stallMs: number
  readonly openChat: OpenChat
}

/** The next text waits while this much is unsent. */
const MAX_UNSENT_BYTES = 49_152
const INTERNAL_ERROR = 1011

/** Connections whose messages are handled by a chat protocol. */
export function createChatConnections(deps: ChatConnectionsDeps): Connections {
  const { clock, timers, logger, limits, stallMs, openChat } = deps
  const window = { limit: limits.maxMessages, windowMs: MESSAGE_WINDOW_MS }
  const chats = new Map<Connection, Promise<Chat>>()

  const { release, hangUp, close, beat, pong } = createClosing(timers, {
    isAnnounced: false,
    onRelease(connection) {
      chats.get(connection)?.then((chat) => chat.close(), ignore)
      chats.delete(connection)
    },
  })

  const fail = (connection: Connection, error: unknown) => {
    if (!connection.isOpen) return
    logger.error('chat over WebSocket failed', error, { connectionId: connection.connectionId })
    release(connection)
    hangUp(connection, INTERNAL_ERROR, '')
  }

  const send = (connection: Connection, text: string): Promise<void> => {
    const { socket } = connection
    if (!connection.isOpen) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const stall = createDeadline(timers, stallMs, () => {
      close(connection, 'flow.throttled')
      resolve()
    })
    socket.send(text, () => {
      stall.clear()
      resolve()
    })
    if (socket.bufferedAmount < MAX_UNSENT_BYTES) return Promise.resolve()
    stall.start()
    return promise
  }

  return {
    open(accepted) {
      const connection = newConnection(accepted)
      const { principal, clientAddress, host, params = {} } = accepted
      const chat = openChat({
        ...{ principal, clientAddress, host, params },
        send: (text) => send(connection, text),
        refuse: () => close(connection, 'protocol.violation'),
      })
      chat.catch((error: unknown) => fail(connection, error))
      chats.set(connection, chat)
      return connection
    },
    receive(connection, text) {
      if (!connection.isOpen) return
      if (!takeFrom(connection.received, clock.monotonicMs(), window).allowed) return close(connection, 'rate.limited')
      chats.get(connection)?.then((chat) => connection.isOpen && chat.receive(text), ignore)
    },
    receiveBinary: (connection) => close(connection, 'protocol.violation'),
    pong,
    beat,
    close,
    closed: release,
  }
}

const ignore = () => undefined
