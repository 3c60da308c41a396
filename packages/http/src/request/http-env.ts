/** What the listener knows of a request beyond the request itself. */
export interface HttpEnv {
  readonly incoming?: {
    readonly socket?: { readonly remoteAddress?: string | undefined }
    /** Names and values in turn, as received. */
    readonly rawHeaders?: readonly string[]
    /** By their names in lower case. */
    readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
    /** Bytes of the body that are there to be read. */
    readonly readableLength?: number
    /** Takes these bytes. */
    read?(): unknown
  }
  readonly outgoing?: { destroy(): unknown }
}

const SINGLE = new Set(['authorization', 'host', 'content-type', 'idempotency-key', 'origin'])
const SINGLE_LENGTHS = new Set([...SINGLE].map(({ length }) => length))

/** A header that was sent more than once and must not be. */
export function repeatedHeader({ incoming }: HttpEnv): string | undefined {
  const seen: string[] = []
  const rawHeaders = incoming?.rawHeaders ?? []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? ''
    if (!SINGLE_LENGTHS.has(sent.length)) continue
    const name = sent.toLowerCase()
    if (!SINGLE.has(name)) continue
    if (seen.includes(name)) return name
    seen.push(name)
  }
  return undefined
}
