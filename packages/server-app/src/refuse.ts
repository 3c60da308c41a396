import { randomBytes } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { requestIdOf, SECURITY_HEADERS, toEnvelope } from '@berth/http'
import type { AppError } from '@berth/ports'
import { ERRORS } from '@berth/protocol'

/** Answers a request that nothing reads further, and closes the connection. */
export function refuse(incoming: IncomingMessage, outgoing: ServerResponse, error: AppError): void {
  const { status, headers, body } = toAnswer(error, incoming)
  outgoing.writeHead(status, headers).end(body)
}

/** Answers on a connection where no answer is under way, and closes it. */
export function refuseOn(socket: Duplex, error: AppError, incoming?: IncomingMessage): void {
  const { status, headers, body } = toAnswer(error, incoming)
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`)
}

/** The same as an answer of `fetch`. */
export function toRefusal(error: AppError): Response {
  const { status, headers, body } = toAnswer(error)
  return new Response(body, { status, headers })
}

function toAnswer(error: AppError, incoming?: IncomingMessage) {
  const sent = incoming?.headers['x-request-id']
  const requestId = requestIdOf(typeof sent === 'string' ? sent : undefined, { randomBytes })
  const body = JSON.stringify(toEnvelope(error, requestId))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    ...SECURITY_HEADERS,
    Connection: 'close',
  }
  return { status: ERRORS[error.id].status, headers, body }
}
