import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

export interface Unanswered {
  add(incoming: IncomingMessage, outgoing: ServerResponse): void
  /**
   * Whether an answer written to the socket now would be taken for that of a request which was received before, or be a
   * second one to a request that was answered before its body had ended.
   */
  isOwedOn(socket: Duplex): boolean
}

/** The requests of each connection that are not over: their answers are not out yet, or their bodies not in. */
export function createUnanswered(): Unanswered {
  const bySocket = new WeakMap<Duplex, Exchange[]>()
  const openOn = (socket: Duplex) => (bySocket.get(socket) ?? []).filter((one) => !isOver(one))

  return {
    add(incoming, outgoing) {
      bySocket.set(incoming.socket, [...openOn(incoming.socket), { incoming, outgoing }])
    },
    isOwedOn: (socket) => openOn(socket).some(({ incoming, outgoing }) => incoming.complete || outgoing.headersSent),
  }
}

const isOver = ({ incoming, outgoing }: Exchange) => outgoing.closed && incoming.complete
