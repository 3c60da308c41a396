import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Bounds how many requests of one connection are in progress: HTTP lets a client send any number without reading. */
export interface RequestTurns {
  /** Whether so many requests are waiting on the connection that the next one must not be taken. */
  isFull(socket: Socket): boolean
  /**
   * Calls `start` at once, or after earlier answers of the connection are sent. Never calls it if the connection closes
   * first.
   */
  take(socket: Socket, outgoing: ServerResponse, start: () => void): void
}

export const MAX_IN_PROGRESS = 6
/** The server stops reading when a request has to wait, but one packet can hold thousands of small requests. */
export const MAX_WAITING = 1_000

interface Turn {
  readonly outgoing: ServerResponse
  readonly start: () => void
}

interface Queue {
  inProgress: ServerResponse[]
  waiting: Turn[]
}

export function createRequestTurns(): RequestTurns {
  const bySocket = new WeakMap<Socket, Queue>()

  const queueOf = (socket: Socket): Queue => {
    const queue = bySocket.get(socket) ?? { inProgress: [], waiting: [] }
    bySocket.set(socket, queue)
    if (queue.inProgress.length > 0) queue.inProgress = queue.inProgress.filter(isOpen)
    return queue
  }

  /** Starts waiting requests while fewer than `MAX_IN_PROGRESS` are in progress. */
  const advance = (socket: Socket) => {
    const queue = queueOf(socket)
    if (socket.destroyed) queue.waiting = []
    while (queue.inProgress.length < MAX_IN_PROGRESS) {
      const next = queue.waiting.shift()
      if (next === undefined) break
      queue.inProgress.push(next.outgoing)
      next.outgoing.once('close', () => advance(socket))
      next.start()
    }
    if (queue.waiting.length === 0) socket.resume()
  }

  return {
    isFull: (socket) => bySocket.get(socket)?.waiting.length === MAX_WAITING,
    take(socket, outgoing, start) {
      const queue = queueOf(socket)
      if (queue.waiting.length === 0 && queue.inProgress.length < MAX_IN_PROGRESS) {
        queue.inProgress.push(outgoing)
        return start()
      }
      if (queue.waiting.length === 0) {
        for (const earlier of queue.inProgress) earlier.once('close', () => advance(socket))
      }
      queue.waiting.push({ outgoing, start })
      socket.pause()
    },
  }
}

const isOpen = ({ closed }: ServerResponse) => !closed
