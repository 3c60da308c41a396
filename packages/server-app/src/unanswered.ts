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
  /** Ends the connection once every request that has come in whole is answered; what else comes on it is not looked at. */
  endAfterAnswers(socket: Duplex): void
}

/** The requests of each connection that are not over: their answers are not out yet, or their bodies not in. */
export function createUnanswered(): Unanswered {
  const bySocket = new WeakMap<Duplex, Exchange[]>()
  const ending = new WeakSet<Duplex>()
  const openOn = (socket: Duplex) => (bySocket.get(socket) ?? []).filter((one) => !isOver(one))

  return {
    add(incoming, outgoing) {
      bySocket.set(incoming.socket, [...openOn(incoming.socket), { incoming, outgoing }])
    },
    endAfterAnswers(socket) {
      if (ending.has(socket)) return
      ending.add(socket)
      const end = () => socket.end(() => socket.destroy())
      const last = openOn(socket).findLast(({ incoming }) => incoming.complete)?.outgoing
      if (last === undefined || last.writableFinished) end()
      else {
        if (!last.headersSent) last.shouldKeepAlive = false
        last.once('finish', end)
      }
    },
    isOwedOn: (socket) => openOn(socket).some(({ incoming, outgoing }) => incoming.complete || outgoing.headersSent),
  }
}

const isOver = ({ incoming, outgoing }: Exchange) => outgoing.closed && incoming.complete
