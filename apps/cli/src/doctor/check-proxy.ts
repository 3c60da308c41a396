import type { ServerConfig } from '@perdure/protocol'
import { isLoopback } from '../server-access/loopback.ts'
import { type Finding, ok, warn } from './finding.ts'

/** Everybody. */
const ALL = new Set(['0.0.0.0/0', '::/0'])

interface ProxyConfig {
  readonly server: Pick<ServerConfig['server'], 'host' | 'trustProxy'>
}

/** Whether the addresses of clients come from where the configuration says. */
export function checkProxy({ server: { host, trustProxy } }: ProxyConfig): Finding {
  const ranges = typeof trustProxy === 'number' ? [] : trustProxy
  if (ranges.some((range) => ALL.has(range))) {
    const message = `server.trustProxy believes X-Forwarded-For of everybody (${ranges.join(', ')})`
    return warn('proxy', message, 'PERDURE_SERVER_TRUST_PROXY=1 perdure server, or name the addresses of the proxies')
  }
  const isTrusting = ranges.length > 0 || (typeof trustProxy === 'number' && trustProxy > 0)
  if (isTrusting) return ok('proxy', `X-Forwarded-For is believed of ${String(trustProxy)} in front`)
  if (isLoopback(`http://${host.includes(':') ? `[${host}]` : host}`)) return ok('proxy', 'none is expected in front')
  const message = `${host} is reached from the network and no proxy is trusted: behind one, all clients share one rate limit`
  return warn('proxy', message, 'PERDURE_SERVER_TRUST_PROXY=1 perdure server, when one proxy is in front')
}
