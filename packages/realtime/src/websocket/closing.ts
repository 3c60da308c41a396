import type { Timers } from '@perdure/ports'
import { CLOSE_CODES, type CloseName } from '@perdure/protocol'
import type { Connection } from './connection.ts'

const MAX_MISSED_PONGS = 2
const CLOSE_TIMEOUT_MS = 5_000

export interface ClosingOptions {
  /** Releases what the connection holds. */
  readonly onRelease: (connection: Connection) => void
  /** Whether the client gets a last message that says why the connection is closed. */
  readonly isAnnounced: boolean
}

/** How connections of every kind end. */
export function createClosing(timers: Pick<Timers, 'after'>, { onRelease, isAnnounced }: ClosingOptions) {
  const stopTimer = (connection: Connection) => {
    connection.cancelTimer?.()
    connection.cancelTimer = undefined
  }

  const release = (connection: Connection) => {
    connection.isOpen = false
    stopTimer(connection)
    onRelease(connection)
  }

  /**
   * Closes the WebSocket. If the client does not complete the closing handshake, terminates the socket to free unsent
   * data.
   */
  const hangUp = (connection: Connection, code: number, reason: string) => {
    connection.socket.close(code, reason)
    connection.cancelTimer = timers.after(CLOSE_TIMEOUT_MS, () => connection.socket.terminate())
  }

  return {
    stopTimer,
    release,
    hangUp,
    close(connection: Connection, name: CloseName, data?: object) {
      if (!connection.isOpen) return
      release(connection)
      const { code, summary } = CLOSE_CODES[name]
      if (isAnnounced) connection.socket.send(JSON.stringify({ kind: 'error', code: name, message: summary, data }))
      hangUp(connection, code, name)
    },
    pong(connection: Connection) {
      connection.missedPongs = 0
    },
    /** Sends a ping, or terminates a connection that has missed two pongs. */
    beat(connection: Connection) {
      if (!connection.isOpen) return
      if (connection.missedPongs >= MAX_MISSED_PONGS) {
        release(connection)
        connection.socket.terminate()
        return
      }
      connection.missedPongs++
      connection.socket.ping()
    },
  }
}
