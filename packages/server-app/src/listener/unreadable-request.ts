import type { IncomingMessage } from 'node:http'
import { AppError } from '@perdure/ports'

const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
const CONTINUE = /^100-continue$/i

/** Why a request cannot be read, though it is well-formed HTTP: too many fields, or no URL comes out of it. */
export function refusalOf(
  { rawHeaders, headers, httpVersion, url = '' }: IncomingMessage,
  maxHeaders: number,
): AppError | undefined {
  if (rawHeaders.length / 2 > maxHeaders) {
    return new AppError('headers-too-large', { message: `there are more than ${maxHeaders} header fields` })
  }
  if (!isTarget(url)) return unreadable('request target: must be a path or an http URL')
  const { host, expect, 'transfer-encoding': coding } = headers
  if (host === undefined ? httpVersion !== '1.0' : !isHost(host)) {
    return unreadable(`header host: ${host === undefined ? 'is missing' : 'must be a host name and a port'}`)
  }
  if (httpVersion === '1.0' && coding !== undefined) return unreadable('header transfer-encoding: HTTP/1.0 has none')
  if (expect !== undefined && !CONTINUE.test(expect)) return unreadable('header expect: must be 100-continue')
  return undefined
}

export const unreadable = (message: string) => new AppError('validation-failed', { message })

/** Nearly every request names the same one. */
let lastHost: string | undefined

function isHost(host: string): boolean {
  if (host === lastHost) return true
  if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false
  lastHost = host
  return true
}

function isTarget(target: string): boolean {
  const [path = ''] = target.split('?', 1)
  if (path.includes('\\')) return false
  if (path.startsWith('/')) return true
  if (!/^https?:\/\//.test(path) || !URL.canParse(target)) return false
  const { username, password } = new URL(target)
  return username === '' && password === ''
}
