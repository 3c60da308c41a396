import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StreamAnswer } from '@perdure/ports'
import { onDisconnect } from './on-disconnect.ts'
import { createSocketSink } from './socket-sink.ts'
import { CLOSE_CONNECTION, discardRest } from './write-answer.ts'

/** Writes an event stream. Cancels the stream when the client disconnects. */
export function writeStream(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, headers, stream }: StreamAnswer,
): void {
  const rest = incoming.complete ? undefined : discardRest(incoming)
  const afterRest = (proceed: () => void) => (rest === undefined ? proceed() : void rest.then(proceed))
  let isDisconnected = false
  const leave = () => {
    if (isDisconnected) return
    isDisconnected = true
    stream.cancel()
    // A cancelled stream must not end with the final chunk: the client would take the body for complete.
    afterRest(() => incoming.socket.destroySoon())
  }

  outgoing.writeHead(status, rest === undefined ? headers : { ...headers, ...CLOSE_CONNECTION })
  outgoing.flushHeaders()
  const unwatch = onDisconnect(incoming, { isEndless: true, callback: leave })
  outgoing.on('error', leave).once('close', unwatch)
  if (isDisconnected) return
  const end = () => afterRest(() => outgoing.end())
  stream.pipeTo(createSocketSink({ outgoing, socket: incoming.socket, end }))
}
