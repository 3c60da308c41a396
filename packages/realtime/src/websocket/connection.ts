import { noneTaken, type Principal, type Taken, type Watcher } from '@perdure/core'
import type { Deadline } from '../deadline.ts'
import type { Addressee } from './page-frames.ts'
import type { ReadFrame } from './rpc.ts'

export type OnWritten = (error?: Error | null) => void

/** The part of a WebSocket that a connection uses. */
export interface Socket {
  readonly readyState: number
  readonly OPEN: number
  /** Bytes that wait for the client. */
  readonly bufferedAmount: number
  send(data: string | Uint8Array, onWritten?: OnWritten): void
  close(code: number, reason: string): void
  ping(): void
  /** Ends it without a closing handshake. */
  terminate(): void
}

/** The stream below it, which takes what is framed already. */
export interface Wire {
  write(bytes: Uint8Array, onWritten: OnWritten): unknown
}

/** What is known of a client when its WebSocket is accepted. */
export interface Accepted {
  readonly connectionId: string
  readonly principal: Principal
  /** Of the request that opened it. */
  readonly requestId: string
  readonly clientAddress: string
  readonly socket: Socket
  readonly wire: Wire
}

/** One subscription of a connection: a position in the log, not a queue. */
export interface Subscription extends Addressee, Watcher {
  readonly connection: Connection
  position: number
}

/**
 * All that the server remembers of one accepted WebSocket, and no function of its own: thousands are open and idle at a
 * time, and what works on them is made once. What most of them never need is made when it is needed.
 */
export interface Connection extends Accepted {
  isOpen: boolean
  isInitialized: boolean
  /** Messages in a row that were not JSON. */
  unparsable: number
  missedPongs: number
  /** Of the first call, later of the closing handshake. */
  cancelTimer: (() => void) | undefined
  /** Ends what looks whether its token is still good. */
  unwatchToken: (() => void) | undefined
  /** When its last messages came. */
  readonly received: Taken
  /** What it asks and has no answer to, in order; `undefined` while nobody answers. */
  unanswered: ReadFrame[] | undefined

  /** Replaced, not changed: most have one or none. */
  subscriptions: readonly Subscription[]
  /** How many ids of subscriptions it has had. */
  named: number
  /** Those for which there may be events, in the order of their turns. */
  behind: Set<Subscription> | undefined
  isPumping: boolean

  /** Runs while more is unsent than may be for long. */
  tooMuch: Deadline | undefined
  /** Runs while events wait for room. */
  noProgress: Deadline | undefined
}

const NONE: readonly Subscription[] = []

/** Every field from the start, so that all connections have one shape. */
export const newConnection = (accepted: Accepted): Connection => ({
  connectionId: accepted.connectionId,
  principal: accepted.principal,
  requestId: accepted.requestId,
  clientAddress: accepted.clientAddress,
  socket: accepted.socket,
  wire: accepted.wire,
  isOpen: true,
  isInitialized: false,
  unparsable: 0,
  missedPongs: 0,
  cancelTimer: undefined,
  unwatchToken: undefined,
  received: noneTaken(),
  unanswered: undefined,
  subscriptions: NONE,
  named: 0,
  behind: undefined,
  isPumping: false,
  tooMuch: undefined,
  noProgress: undefined,
})
