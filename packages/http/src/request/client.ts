import { BlockList, isIP } from 'node:net'
import { StartError } from '@perdure/ports'
import type { HttpEnv } from './http-env.ts'
import type { RequestHead } from './request-head.ts'

/** The client of a request, as seen through trusted proxies. */
export interface Client {
  /** Identifies the client: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly address: string
  /** Whether the client used TLS. */
  readonly isSecure: boolean
}

/** Placeholder for the address of a client whose address is not known. */
export const UNKNOWN_ADDRESS = 'unknown'

/** The number of proxies in front of the server, or their address ranges. */
type TrustProxy = number | readonly string[]

/** Finds the client of a request. Proxy headers count only if the proxy is trusted. */
export type ClientOf = (env: HttpEnv, head: Pick<RequestHead, 'header' | 'isSecure'>) => Client

/**
 * Reads X-Forwarded-For from the right, skipping the given number of hops or the addresses of known proxies. If the
 * next entry is not an IP address, the socket address is used.
 *
 * @throws StartError `config-invalid` if a range is malformed
 */
export function createClientOf(trustProxy: TrustProxy): ClientOf {
  const findClientAddress =
    typeof trustProxy === 'number' ? byHopCount(trustProxy) : byTrustedRanges(rangesOf(trustProxy))

  return (env, head) => {
    const socket = env.incoming?.socket?.remoteAddress ?? env.clientAddress ?? UNKNOWN_ADDRESS
    const forwarded = head.header('x-forwarded-for')
    const address = forwarded === undefined ? socket : findClientAddress(socket, hopsOf(forwarded))
    const isProxied = address !== socket
    const isSecure = head.isSecure || (isProxied && head.header('x-forwarded-proto') === 'https')
    return { address: networkOf(address), isSecure }
  }
}

/**
 * Returns the client address that a connection counts for: `undefined` for the connection of a trusted proxy, which
 * carries requests of many clients. With a number of proxies, every connection comes from a proxy.
 *
 * @throws StartError `config-invalid` if a range is malformed
 */
export function createConnectionAddressOf(trustProxy: TrustProxy): (remoteAddress: string) => string | undefined {
  if (typeof trustProxy === 'number') return trustProxy > 0 ? () => undefined : networkOf
  const trusted = rangesOf(trustProxy)
  return (remoteAddress) => (isWithin(trusted, remoteAddress) ? undefined : networkOf(remoteAddress))
}

const hopsOf = (forwarded: string): readonly string[] =>
  forwarded.split(',').flatMap((text) => withoutPort(text.trim()) || [])

type FindClientAddress = (socket: string, forwarded: readonly string[]) => string

const byHopCount =
  (hops: number): FindClientAddress =>
  (socket, forwarded) => {
    const chain = [...forwarded, socket]
    const address = chain[Math.max(0, chain.length - 1 - hops)] ?? socket
    return isIP(address) === 0 ? socket : address
  }

const byTrustedRanges =
  (trusted: BlockList): FindClientAddress =>
  (socket, forwarded) => {
    const chain = [...forwarded, socket]
    let at = chain.length - 1
    while (at > 0 && isWithin(trusted, chain[at] ?? '')) at -= 1
    const address = chain[at] ?? socket
    return isIP(address) === 0 ? socket : address
  }

function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    const version = isIP(network)
    const bits = prefix === undefined ? (version === 4 ? 32 : 128) : Number(prefix)
    if (version === 0 || bits > (version === 4 ? 32 : 128)) {
      throw new StartError('config-invalid', {
        message: `server.trustProxy: ${range} is not an address range`,
        hint: 'use ranges like 10.0.0.0/8 or fd00::/8, or the number of proxies in front of the server',
      })
    }
    list.addSubnet(network, bits, version === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

function isWithin(list: BlockList, address: string): boolean {
  const plain = mappedOf(address) ?? address
  const version = isIP(plain)
  return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (text: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text

const mappedOf = (address: string): string | undefined => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]

const networkOf = (address: string): string => {
  const mapped = mappedOf(address)
  if (mapped !== undefined) return mapped
  return address.includes(':') ? prefixOf(address) : address
}

/** The first four groups of an IPv6 address, without leading zeros. */
function prefixOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = Math.max(0, 8 - before.length - after.length)
  const zeros = tail === undefined ? [] : Array.from({ length: missing }, () => '0')
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${groups.join(':')}::/64`
}
