import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

export interface Unanswered {
  add(incoming: IncomingMessage, outgoing: ServerResponse): void
  /** Whether an answer written to the socket now would be taken for that of a request which was received before. */
  isOwedOn(socket: Duplex): boolean
}

/** The requests of each connection whose answers are not out yet. */
export function createUnanswered(): Unanswered {
  const bySocket = new WeakMap<Duplex, Set<Exchange>>()

  return {
    add(incoming, outgoing) {
      const exchange = { incoming, outgoing }
      const exchanges = bySocket.get(incoming.socket) ?? new Set()
      bySocket.set(incoming.socket, exchanges.add(exchange))
      outgoing.once('close', () => exchanges.delete(exchange))
    },
    isOwedOn: (socket) =>
      [...(bySocket.get(socket) ?? [])].some(({ incoming, outgoing }) => incoming.complete || outgoing.headersSent),
  }
}
