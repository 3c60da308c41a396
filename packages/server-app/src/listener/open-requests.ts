import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/**
 * Tracks the open requests of each connection. A request is open until its answer is sent and its body has arrived
 * completely.
 */
export interface OpenRequests {
  add(incoming: IncomingMessage, outgoing: ServerResponse): void
  /**
   * Whether the client would misread an answer written to the socket now, either as the answer to an earlier request or
   * as a second answer to a request that was answered before its body had arrived.
   */
  isOccupied(socket: Duplex): boolean
  /** Ignores further input, and ends the connection once every complete request on it is answered. */
  endAfterAnswers(socket: Duplex): void
  /**
   * Calls `proceed` once every earlier request on the connection is answered. For sockets that Node has detached from
   * its HTTP server. Never calls `proceed` if the connection closes after those answers.
   */
  whenFree(socket: Duplex, proceed: () => void): void
}

export function createOpenRequests(): OpenRequests {
  const bySocket = new WeakMap<Duplex, Exchange[]>()
  const ending = new WeakSet<Duplex>()
  const openOn = (socket: Duplex) => (bySocket.get(socket) ?? []).filter((exchange) => !isOver(exchange))

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
    whenFree(socket, proceed) {
      const open = openOn(socket)
      const last = open.at(-1)?.outgoing
      if (last === undefined || last.writableFinished) return proceed()
      // Node no longer forwards `drain` from a detached socket to the answers that are still being written.
      const forwardDrain = () => {
        for (const { outgoing } of open) outgoing.emit('drain')
      }
      const settle = () => {
        socket.off('drain', forwardDrain).off('close', settle)
        if (last.writableFinished && socket.writable) proceed()
      }
      socket.on('drain', forwardDrain).on('close', settle)
      last.once('finish', settle)
    },
    isOccupied: (socket) => openOn(socket).some(({ incoming, outgoing }) => incoming.complete || outgoing.headersSent),
  }
}

const isOver = ({ incoming, outgoing }: Exchange) => outgoing.closed && incoming.complete
