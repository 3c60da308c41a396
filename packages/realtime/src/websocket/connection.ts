import { emptyWindow, type Principal, type Watcher, type WindowState } from '@perdure/core'
import type { Deadline } from '../deadline.ts'
import type { FrameRecipient } from './page-frames.ts'
import type { ReadFrame } from './rpc.ts'

export type OnWritten = (error?: Error | null) => void

/** The subset of a WebSocket that a connection uses. */
export interface Socket {
  readonly readyState: number
  readonly OPEN: number
  /** Bytes not yet sent to the client. */
  readonly bufferedAmount: number
  send(data: string | Uint8Array, onWritten?: OnWritten): void
  close(code: number, reason: string): void
  ping(): void
  /** Destroys the connection without a closing handshake. */
  terminate(): void
}

/** The network stream under the WebSocket, for data that is already framed. */
export interface Wire {
  write(bytes: Uint8Array, onWritten: OnWritten): unknown
}

/** An accepted WebSocket and its client. */
export interface Accepted {
  readonly connectionId: string
  readonly principal: Principal
  /** Id of the upgrade request. */
  readonly requestId: string
  readonly clientAddress: string
  readonly socket: Socket
  readonly wire: Wire
  /** The parameters of the path. */
  readonly params?: Readonly<Record<string, string>> | undefined
  /** The Host header of the upgrade. */
  readonly host?: string | undefined
}

/** One subscription of a connection: a position in the log, not a queue. */
export interface Subscription extends FrameRecipient, Watcher {
  readonly connection: Connection
  position: number
}

/**
 * The state of one accepted WebSocket. It has no closures, and fields that most connections never need are created on
 * demand, because thousands of connections are open and idle at a time.
 */
export interface Connection extends Omit<Accepted, 'principal' | 'params' | 'host'> {
  /** Replaced when the client renews its credential. */
  principal: Principal
  isOpen: boolean
  isInitialized: boolean
  /** Consecutive messages that were not JSON. */
  unparsableInARow: number
  missedPongs: number
  /** Cancels the timeout of `initialize`, and later the timeout of the closing handshake. */
  cancelTimer: (() => void) | undefined
  /** Stops watching the token. */
  unwatchToken: (() => void) | undefined
  /** Counts the client's recent messages for the rate limit. */
  readonly received: WindowState
  /** Received frames not yet answered, in order; `undefined` while idle. */
  unanswered: ReadFrame[] | undefined

  /** Replaced rather than mutated, so that all new connections can share one empty array. */
  subscriptions: readonly Subscription[]
  /** Number in the last subscription id that was issued on this connection. */
  lastSubscriptionNumber: number
  /** Subscriptions that may have unsent events, in the order they are served. */
  behind: Set<Subscription> | undefined
  isPumping: boolean

  /** Runs while more than `maxUnsentBytes` are unsent. */
  unsentDeadline: Deadline | undefined
  /** Runs while events wait for the client to read. */
  progressDeadline: Deadline | undefined
}

const NONE: readonly Subscription[] = []

/** Sets every field, so that all connections share one hidden class. */
export const newConnection = (accepted: Accepted): Connection => ({
  connectionId: accepted.connectionId,
  principal: accepted.principal,
  requestId: accepted.requestId,
  clientAddress: accepted.clientAddress,
  socket: accepted.socket,
  wire: accepted.wire,
  isOpen: true,
  isInitialized: false,
  unparsableInARow: 0,
  missedPongs: 0,
  cancelTimer: undefined,
  unwatchToken: undefined,
  received: emptyWindow(),
  unanswered: undefined,
  subscriptions: NONE,
  lastSubscriptionNumber: 0,
  behind: undefined,
  isPumping: false,
  unsentDeadline: undefined,
  progressDeadline: undefined,
})
