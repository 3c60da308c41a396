import type { Timers } from '@perdure/ports'
import { createDeadline, type Deadline } from '../deadline.ts'
import type { Connection } from './connection.ts'
import type { WebSocketLimits } from './web-socket-limits.ts'

export interface OutboxDeps {
  readonly timers: Timers
  readonly stallMs: number
  readonly limits: Pick<WebSocketLimits, 'maxUnsentBytes' | 'maxUnsentBurstBytes'>
  /** Bytes have left; there may be room again. */
  readonly onRoom: (connection: Connection) => void
  /** The client reads too slowly. */
  readonly onStalled: (connection: Connection) => void
}

/** The one way of bytes to a client, which watches what the client does not take. */
export interface Outbox {
  send(connection: Connection, message: string): void
  /** Sends frames that are ready for the wire, whole ones only. */
  sendFrames(connection: Connection, frames: Uint8Array): void
  /** Whether another event may be sent now. */
  hasRoom(connection: Connection): boolean
  /** Events wait for room: progress is due. */
  wait(connection: Connection): void
  /** There is room, or nothing waits any more. */
  progress(connection: Connection): void
  /** Watches no more. */
  close(connection: Connection): void
}

/** So that a slow client costs little memory, with one block of frames more, and a fast one is never waited for. */
const PACED_BYTES = 49_152

export function createOutbox({ timers, stallMs, limits, onRoom, onStalled }: OutboxDeps): Outbox {
  const { maxUnsentBytes, maxUnsentBurstBytes } = limits

  // Most clients take all that comes: what watches the others is made when it is first needed.
  const startTime = (connection: Connection, deadline: Deadline | undefined) => {
    const started = deadline ?? createDeadline(timers, stallMs, () => onStalled(connection))
    started.start()
    return started
  }

  const written = (connection: Connection) => {
    if (!connection.isOpen) return
    if (connection.socket.bufferedAmount <= maxUnsentBytes) connection.tooMuch?.clear()
    onRoom(connection)
  }

  const look = (connection: Connection) => {
    const unsent = connection.socket.bufferedAmount
    if (unsent > maxUnsentBurstBytes) onStalled(connection)
    else if (unsent > maxUnsentBytes) connection.tooMuch = startTime(connection, connection.tooMuch)
  }

  return {
    send(connection, message) {
      if (!connection.isOpen) return
      connection.socket.send(message, () => written(connection))
      look(connection)
    },
    sendFrames(connection, frames) {
      const { isOpen, socket, wire } = connection
      if (!isOpen) return
      // Without compression a frame is written at once and whole, so those of ws and these never mix. After a close frame
      // none may follow: ws then only counts them.
      if (socket.readyState === socket.OPEN) wire.write(frames, () => written(connection))
      else socket.send(frames, () => written(connection))
      look(connection)
    },
    hasRoom: ({ isOpen, socket }) => isOpen && socket.bufferedAmount < PACED_BYTES,
    wait(connection) {
      if (connection.isOpen) connection.noProgress = startTime(connection, connection.noProgress)
    },
    progress: ({ noProgress }) => noProgress?.clear(),
    close({ tooMuch, noProgress }) {
      tooMuch?.clear()
      noProgress?.clear()
    },
  }
}
