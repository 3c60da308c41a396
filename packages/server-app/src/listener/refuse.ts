import { randomBytes } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  isResponse,
  isStream,
  type Outgoing,
  requestIdOf,
  SECURITY_HEADERS,
  type TextAnswer,
  toEnvelope,
  toResponse,
} from '@perdure/http'
import type { Refusal } from '@perdure/ports'
import { ERRORS } from '@perdure/protocol'
import { writeAnswer } from './write-answer.ts'

/** Refuses a request whose body is not read, and closes the connection. */
export function refuse(incoming: IncomingMessage, outgoing: ServerResponse, error: Refusal): void {
  writeAnswer(incoming, outgoing, toAnswer(error, incoming))
}

/** Writes a refusal to a socket on which no answer is being written, and closes the socket. */
export function refuseOnSocket(socket: Duplex, error: Refusal, incoming?: IncomingMessage): void {
  write(socket, toAnswer(error, incoming))
}

/** Writes a complete answer to a socket on which no other answer is being written, and closes the socket. */
export async function sendOnSocket(socket: Duplex, answer: Outgoing): Promise<void> {
  const { status, headers, text } = isResponse(answer) || isStream(answer) ? await readText(toResponse(answer)) : answer
  write(socket, { status, headers: { ...headers, Connection: 'close' }, text })
}

function write(socket: Duplex, { status, headers, text }: TextAnswer): void {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${text ?? ''}`)
}

async function readText(response: Response): Promise<TextAnswer> {
  const text = await response.text()
  const headers = { ...Object.fromEntries(response.headers), 'content-length': String(Buffer.byteLength(text)) }
  return { status: response.status, headers, text }
}

function toAnswer(error: Refusal, incoming?: IncomingMessage): TextAnswer {
  const sent = incoming?.headers['x-request-id']
  const requestId = requestIdOf(typeof sent === 'string' ? sent : undefined, { randomBytes })
  const text = JSON.stringify(toEnvelope(error, requestId))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'X-Request-Id': requestId,
    ...SECURITY_HEADERS,
    Connection: 'close',
    ...(error.retryAfter === undefined
      ? {}
      : { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfter / 1_000))) }),
  }
  return { status: ERRORS[error.code].status, headers, text }
}
