import type { Principal } from '@perdure/core'

/** Facts about a request that the `Request` object does not contain. */
export interface HttpEnv {
  /** Whether another HTTP server has received the request, so that a mount path may precede the base path. */
  readonly isMounted?: boolean
  /** The address of the client, if `incoming` is missing. Without both, the limits per address do not apply. */
  readonly clientAddress?: string | undefined
  /** A caller inside the process. The request carries no credentials then. */
  readonly caller?: Principal | undefined
  /** Node's objects for the request; only the listener passes them. */
  readonly incoming?: {
    readonly socket?: { readonly remoteAddress?: string | undefined }
    /** Alternating names and values, as received. */
    readonly rawHeaders?: readonly string[]
    /** Keyed by lower-case name. */
    readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
    /** Number of body bytes that are already buffered. */
    readonly readableLength?: number
    /** Reads the buffered bytes. */
    read?(): unknown
  }
}

const NOT_REPEATABLE = new Set(['authorization', 'host', 'content-type', 'idempotency-key', 'origin'])
const NOT_REPEATABLE_LENGTHS = new Set([...NOT_REPEATABLE].map(({ length }) => length))

/** Name of a header that must not repeat but was sent more than once. */
export function repeatedHeader({ incoming }: HttpEnv): string | undefined {
  const seen: string[] = []
  const rawHeaders = incoming?.rawHeaders ?? []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? ''
    if (!NOT_REPEATABLE_LENGTHS.has(sent.length)) continue
    const name = sent.toLowerCase()
    if (!NOT_REPEATABLE.has(name)) continue
    if (seen.includes(name)) return name
    seen.push(name)
  }
  return undefined
}
