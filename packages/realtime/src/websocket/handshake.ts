import type { IncomingMessage } from 'node:http'
import { perdureError } from '@perdure/ports'
import { SUBPROTOCOL } from '@perdure/protocol'

const KEY = /^[+/0-9a-z]{22}==$/i
const VERSION = '13'
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i

/** Checks the upgrade request and returns the subprotocols it offers. @throws PerdureError `validation-failed` */
export function readOffer({ method, headers }: IncomingMessage): readonly string[] {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') {
    throw refuse('this route accepts only WebSocket upgrades', 'send GET with Upgrade: websocket')
  }
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw refuse('header sec-websocket-key: must be 16 bytes in base64')
  if (headers['sec-websocket-version'] !== VERSION) throw refuse(`header sec-websocket-version: must be ${VERSION}`)
  const offered = headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim()) ?? []
  if (!offered.every((protocol) => TOKEN.test(protocol)) || new Set(offered).size < offered.length) {
    throw refuse('header sec-websocket-protocol: must be a list of distinct subprotocols')
  }
  return offered
}

/** Like `readOffer`, for a client that must offer `svc.protocol.v1`. @throws PerdureError `validation-failed` */
export function readHandshake(incoming: IncomingMessage): readonly string[] {
  const offered = readOffer(incoming)
  if (!offered.includes(SUBPROTOCOL)) {
    throw refuse(`header sec-websocket-protocol: ${SUBPROTOCOL} is missing`, `offer ${SUBPROTOCOL}`)
  }
  return offered
}

const refuse = (message: string, hint?: string) =>
  perdureError('validation-failed', hint === undefined ? { message } : { message, hint })
