import type { IncomingMessage } from 'node:http'
import type { HttpRequest } from '@perdure/http'

/**
 * Wraps a received request for the HTTP stages; `undefined` if a URL parser would read a different host. Calls
 * `callForBody` before it reads the body, so that the listener can answer `Expect: 100-continue` first.
 */
export function toHttpRequest(
  incoming: IncomingMessage,
  hostname: string,
  callForBody: () => void = () => undefined,
): HttpRequest | undefined {
  const url = urlOf(incoming, hostname)
  if (url === undefined) return undefined
  const { method = 'GET', headers } = incoming
  return {
    ...{ method, url },
    headers: {
      get(name) {
        const value = headers[name.toLowerCase()]
        return (Array.isArray(value) ? value.join(', ') : value) ?? null
      },
    },
    body: {
      // Without `destroyOnReturn: false`, a reader that stops early would destroy the connection before the answer is
      // sent.
      getReader() {
        callForBody()
        return ReadableStream.from<Uint8Array<ArrayBuffer>>(incoming.iterator({ destroyOnReturn: false })).getReader()
      },
    },
    async arrayBuffer() {
      callForBody()
      const bytes = Buffer.concat(await incoming.toArray())
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
    },
  }
}

const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/
const PLAIN_TARGET = /^\/[!#$&-;=?-[\]_a-z~]*$/
const DOT_SEGMENT = /\/\.\.?(?:[/?#]|$)/

/**
 * The normalized URL; `undefined` if normalizing changes the host. Skips the URL parser if the URL is already
 * normalized.
 */
function urlOf({ url: target = '', headers }: IncomingMessage, hostname: string): string | undefined {
  if (!target.startsWith('/')) return new URL(target).href
  const host = headers.host ?? hostname
  const url = `http://${host}${target}`
  if (PLAIN_HOST.test(host) && PLAIN_TARGET.test(target) && !DOT_SEGMENT.test(target)) return url
  const parsed = URL.parse(url)
  return parsed?.hostname === host.replace(/:\d+$/, '').toLowerCase() ? parsed.href : undefined
}
