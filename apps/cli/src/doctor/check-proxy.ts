import type { ServerConfig } from '@perdure/protocol'
import { isLoopback } from '../server-access/loopback.ts'
import { type Finding, ok, warn } from './finding.ts'

/** Ranges that match every address. */
const ALL = new Set(['0.0.0.0/0', '::/0'])

interface ProxyConfig {
  readonly server: Pick<ServerConfig['server'], 'host' | 'trustProxy'>
}

/** Checks whether the server will see the real addresses of its clients. */
export function checkProxy({ server: { host, trustProxy } }: ProxyConfig): Finding {
  const ranges = typeof trustProxy === 'number' ? [] : trustProxy
  if (ranges.some((range) => ALL.has(range))) {
    const message = `server.trustProxy trusts X-Forwarded-For from any address (${ranges.join(', ')})`
    return warn('proxy', message, 'set server.trustProxy to 1, or to the addresses of your proxies')
  }
  const isTrusting = ranges.length > 0 || (typeof trustProxy === 'number' && trustProxy > 0)
  if (isTrusting) return ok('proxy', `X-Forwarded-For is trusted (server.trustProxy: ${String(trustProxy)})`)
  if (isLoopback(`http://${host.includes(':') ? `[${host}]` : host}`))
    return ok('proxy', 'not needed: the server listens on loopback only')
  const message = `the server listens on ${host} and trusts no proxy: behind a proxy, all clients share one rate limit`
  return warn('proxy', message, 'set server.trustProxy to 1 if the server is behind one proxy')
}
