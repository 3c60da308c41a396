import type { IncomingMessage } from 'node:http'

export interface Disconnect {
  /** Whether the answer ends only when the client disconnects, or when the server ends it. */
  readonly isEndless: boolean
  readonly callback: () => void
}

/**
 * Calls `callback` once the client can no longer read the answer, or at once if it already cannot. A client that ends
 * its half of the connection may still wait for a finite answer, but counts as disconnected if it reads an event
 * stream. Returns a function that removes the listeners.
 */
export function onDisconnect({ socket }: IncomingMessage, { isEndless, callback }: Disconnect): () => void {
  if (socket.destroyed || (isEndless && socket.readableEnded)) callback()
  socket.once('close', callback)
  if (isEndless) socket.once('end', callback)
  return () => void socket.off('close', callback).off('end', callback)
}
