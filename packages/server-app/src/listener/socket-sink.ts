import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TextSink } from '@perdure/ports'

export interface SocketSinkOptions {
  readonly outgoing: ServerResponse
  readonly socket: Socket
  /** Ends the answer. */
  readonly end: () => void
}

/**
 * How much of a stream is written in one turn of the event loop. A client that reads fast would otherwise occupy the
 * loop until the stream waits. Characters.
 */
const MAX_PER_TURN = 64 * 1024

/** Writes text to the connection of an answer whose head is sent. */
export function createSocketSink({ outgoing, socket, end }: SocketSinkOptions): TextSink {
  let resume = () => {}
  let written = 0
  let isFull = false
  let isInTurn = true

  const hasRoom = () => isInTurn && !isFull
  const resumeWithRoom = () => {
    if (hasRoom()) resume()
  }
  const beginTurn = () => {
    isInTurn = true
    resumeWithRoom()
  }
  const onDrain = () => {
    isFull = false
    resumeWithRoom()
  }
  /** While earlier answers of the connection are sent, Node keeps the text, and the answer has no socket. */
  const isConnected = () => outgoing.socket === socket
  const onSocketDrain = () => {
    if (isConnected()) onDrain()
  }
  outgoing.on('drain', onDrain).once('close', () => void socket.off('drain', onSocketDrain))
  socket.on('drain', onSocketDrain)

  return {
    hasRoom,
    write(text) {
      // A chunk of no length would end the answer.
      if (text === '') return
      const isTaken = isConnected() && outgoing.chunkedEncoding ? writeChunk(socket, text) : outgoing.write(text)
      if (!isTaken) isFull = true
      written += text.length
      if (written < MAX_PER_TURN) return
      written = 0
      isInTurn = false
      setImmediate(beginTurn)
    },
    onDrain(callback) {
      resume = callback
    },
    end,
    fail: () => void outgoing.destroy(),
  }
}

/**
 * Node would write the length, the text and both line ends separately, which takes longer for a short text. The chunks of
 * one turn are passed to the system together, as Node does it.
 */
function writeChunk(socket: Socket, text: string): boolean {
  if (socket.writableCorked === 0) {
    socket.cork()
    process.nextTick(uncork, socket)
  }
  return socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
}

const uncork = (socket: Socket): void => socket.uncork()
