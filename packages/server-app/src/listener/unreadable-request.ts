import type { IncomingMessage } from 'node:http'
import { perdureError, type Refusal } from '@perdure/ports'

const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
const CONTINUE = /^100-continue$/i

/** Returns why a request cannot be read although it is well-formed HTTP; `undefined` if it can be read. */
export type FindRefusal = (incoming: IncomingMessage) => Refusal | undefined

export function createFindRefusal(maxHeaders: number): FindRefusal {
  const isHost = createHostCheck()
  return (incoming) => refusalOf(incoming, maxHeaders, isHost)
}

function refusalOf(
  { rawHeaders, headers, httpVersion, url = '' }: IncomingMessage,
  maxHeaders: number,
  isHost: HostCheck,
): Refusal | undefined {
  if (rawHeaders.length / 2 > maxHeaders) {
    return perdureError('headers-too-large', { message: `the request has more than ${maxHeaders} header fields` })
  }
  if (!isTarget(url)) return unreadable('request target: must be a path or an http URL')
  const { host, expect, 'transfer-encoding': coding } = headers
  if (host === undefined ? httpVersion !== '1.0' : !isHost(host)) {
    return unreadable(`header host: ${host === undefined ? 'is missing' : 'must be a host name and a port'}`)
  }
  if (httpVersion === '1.0' && coding !== undefined) {
    return unreadable('header transfer-encoding: is not allowed in HTTP/1.0')
  }
  if (expect !== undefined && !CONTINUE.test(expect)) return unreadable('header expect: must be 100-continue')
  return undefined
}

export const unreadable = (message: string) => perdureError('validation-failed', { message })

type HostCheck = (host: string) => boolean

/** Remembers the last valid host, since nearly every request names the same one. */
function createHostCheck(): HostCheck {
  let lastHost: string | undefined

  return (host) => {
    if (host === lastHost) return true
    if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false
    lastHost = host
    return true
  }
}

function isTarget(target: string): boolean {
  const [path = ''] = target.split('?', 1)
  if (path.includes('\\')) return false
  if (path.startsWith('/')) return true
  if (!/^https?:\/\//.test(path) || !URL.canParse(target)) return false
  const { username, password } = new URL(target)
  return username === '' && password === ''
}
