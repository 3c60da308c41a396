import type { IncomingMessage } from 'node:http'
import { AppError } from '@perdure/ports'
import { SUBPROTOCOL } from '@perdure/protocol'

const KEY = /^[+/0-9a-z]{22}==$/i
const VERSION = '13'
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i

/** The subprotocols that a request offers. @throws AppError `validation-failed` when it cannot become a WebSocket of ours */
export function readHandshake({ method, headers }: IncomingMessage): readonly string[] {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') {
    throw refuse('this route is a WebSocket', 'send GET with Upgrade: websocket')
  }
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) throw refuse('header sec-websocket-key: is no 16 bytes in base64')
  if (headers['sec-websocket-version'] !== VERSION) throw refuse(`header sec-websocket-version: must be ${VERSION}`)
  const offered = headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim()) ?? []
  if (!offered.every((protocol) => TOKEN.test(protocol)) || new Set(offered).size < offered.length) {
    throw refuse('header sec-websocket-protocol: is no list of different subprotocols')
  }
  if (!offered.includes(SUBPROTOCOL)) {
    throw refuse('header sec-websocket-protocol: the subprotocol is missing', `offer ${SUBPROTOCOL}`)
  }
  return offered
}

const refuse = (message: string, hint?: string) =>
  new AppError('validation-failed', hint === undefined ? { message } : { message, hint })
