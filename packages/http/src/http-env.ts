/** What the listener knows of a request beyond the request itself. */
export interface HttpEnv {
  readonly incoming?: {
    readonly socket?: { readonly remoteAddress?: string | undefined }
    /** Names and values in turn, as received. */
    readonly rawHeaders?: readonly string[]
  }
  readonly outgoing?: { destroy(): unknown }
}

/** Who counts as one client: the address of the socket, an IPv6 one by its /64. */
export function clientAddressOf({ incoming }: HttpEnv): string {
  const address = incoming?.socket?.remoteAddress ?? 'unknown'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return address.includes(':') ? networkOf(address) : address
}

/** The first four groups of an IPv6 address, without leading zeros. */
function networkOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0')
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${groups.join(':')}::/64`
}

const SINGLE = new Set(['authorization', 'host', 'content-type', 'idempotency-key', 'origin'])

/** A header that was sent more than once and must not be. */
export function repeatedHeader({ incoming }: HttpEnv): string | undefined {
  const seen = new Set<string>()
  const rawHeaders = incoming?.rawHeaders ?? []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    if (!SINGLE.has(name)) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}
