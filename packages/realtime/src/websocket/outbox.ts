import type { Timers } from '@perdure/ports'
import { createDeadline, type Deadline } from '../deadline.ts'
import type { Connection } from './connection.ts'
import type { WebSocketLimits } from './web-socket-limits.ts'

export interface OutboxDeps {
  readonly timers: Timers
  readonly stallMs: number
  readonly limits: Pick<WebSocketLimits, 'maxUnsentBytes' | 'maxUnsentBurstBytes'>
  /** Called after a write, when there may be room again. */
  readonly onRoom: (connection: Connection) => void
  /** Called when the client reads too slowly. */
  readonly onStalled: (connection: Connection) => void
}

/** Sends everything to the clients and detects those that read too slowly. */
export interface Outbox {
  send(connection: Connection, message: string): void
  /** Sends encoded frames; each must be complete. */
  sendFrames(connection: Connection, frames: Uint8Array): void
  /** Whether more events may be sent now. */
  hasRoom(connection: Connection): boolean
  /** Call when events are waiting for room: the client must make progress before the deadline. */
  expectProgress(connection: Connection): void
  /** Call when there is room again, or nothing is waiting. */
  madeProgress(connection: Connection): void
  /** Stops all deadlines of the connection. */
  close(connection: Connection): void
}

/** Delivery pauses at this many unsent bytes, so a slow client costs at most these bytes plus one block of frames. */
const MAX_PACED_BYTES = 49_152

export function createOutbox({ timers, stallMs, limits, onRoom, onStalled }: OutboxDeps): Outbox {
  const { maxUnsentBytes, maxUnsentBurstBytes } = limits

  // Created on first use: most clients never fall behind.
  const startDeadline = (connection: Connection, deadline: Deadline | undefined) => {
    const started = deadline ?? createDeadline(timers, stallMs, () => onStalled(connection))
    started.start()
    return started
  }

  const onWritten = (connection: Connection) => {
    if (!connection.isOpen) return
    if (connection.socket.bufferedAmount <= maxUnsentBytes) connection.unsentDeadline?.clear()
    onRoom(connection)
  }

  const checkUnsent = (connection: Connection) => {
    const unsent = connection.socket.bufferedAmount
    if (unsent > maxUnsentBurstBytes) onStalled(connection)
    else if (unsent > maxUnsentBytes) connection.unsentDeadline = startDeadline(connection, connection.unsentDeadline)
  }

  return {
    send(connection, message) {
      if (!connection.isOpen) return
      connection.socket.send(message, () => onWritten(connection))
      checkUnsent(connection)
    },
    sendFrames(connection, frames) {
      const { isOpen, socket, wire } = connection
      if (!isOpen) return
      // Without compression, ws writes each frame at once and whole, so its frames never interleave with these. No
      // frame may follow a close frame: once ws is closing, use its `send`, which only adds the data to
      // `bufferedAmount`.
      if (socket.readyState === socket.OPEN) wire.write(frames, () => onWritten(connection))
      else socket.send(frames, () => onWritten(connection))
      checkUnsent(connection)
    },
    hasRoom: ({ isOpen, socket }) => isOpen && socket.bufferedAmount < MAX_PACED_BYTES,
    expectProgress(connection) {
      if (connection.isOpen) connection.progressDeadline = startDeadline(connection, connection.progressDeadline)
    },
    madeProgress: ({ progressDeadline }) => progressDeadline?.clear(),
    close({ unsentDeadline, progressDeadline }) {
      unsentDeadline?.clear()
      progressDeadline?.clear()
    },
  }
}
