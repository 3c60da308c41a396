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
  /**
   * Calls `take` with a connection that Node has let go of, in its turn: once every request that came on it is answered.
   * Never, when the connection ends with those answers.
   */
  inTurn(socket: Duplex, take: () => void): void
  /** Cuts the connections that wait for their turn: the listener knows of them no longer. */
  cutWaiting(): void
}

/** The requests of each connection that are not over: their answers are not out yet, or their bodies not in. */
export function createUnanswered(): Unanswered {
  const bySocket = new WeakMap<Duplex, Exchange[]>()
  const ending = new WeakSet<Duplex>()
  const waiting = new Set<Duplex>()
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
    inTurn(socket, take) {
      const open = openOn(socket)
      const last = open.at(-1)?.outgoing
      if (last === undefined || last.writableFinished) return take()
      waiting.add(socket)
      // Nobody else tells these answers that the connection has room again.
      const drained = () => {
        for (const { outgoing } of open) outgoing.emit('drain')
      }
      const settle = () => {
        waiting.delete(socket)
        socket.off('drain', drained).off('close', settle)
        if (last.writableFinished && socket.writable) take()
      }
      socket.on('drain', drained).on('close', settle)
      last.once('finish', settle)
    },
    cutWaiting() {
      for (const socket of waiting) socket.destroy()
    },
    isOwedOn: (socket) => openOn(socket).some(({ incoming, outgoing }) => incoming.complete || outgoing.headersSent),
  }
}

const isOver = ({ incoming, outgoing }: Exchange) => outgoing.closed && incoming.complete
