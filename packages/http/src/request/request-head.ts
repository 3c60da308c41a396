import type { HttpEnv } from './http-env.ts'
import type { HttpRequest } from './http-request.ts'

/** A request without its body. */
export interface RequestHead {
  readonly method: string
  readonly path: string // without dot segments, still escaped
  readonly search: string // with the question mark; empty without a query
  /** The Host header, or the authority of the URL. */
  readonly host: string
  readonly isSecure: boolean // according to the URL scheme
  /** @param name in lower case */
  header(name: string): string | undefined
}

/** Uses the headers that the listener has parsed; without a listener, the headers of the request. */
export function readHead({ method, url, headers }: HttpRequest, { incoming }: HttpEnv): RequestHead {
  const authorityAt = url.indexOf('://') + 3
  const pathAt = url.indexOf('/', authorityAt)
  const fragmentAt = url.indexOf('#', pathAt)
  const target = url.slice(pathAt, fragmentAt === -1 ? undefined : fragmentAt)
  const queryAt = target.indexOf('?')
  const parsed = incoming?.headers
  const header = (name: string): string | undefined => {
    const value = parsed === undefined ? (headers.get(name) ?? undefined) : parsed[name]
    return typeof value === 'object' ? value.join(', ') : value
  }
  return {
    method,
    path: queryAt === -1 ? target : target.slice(0, queryAt),
    search: queryAt === -1 ? '' : target.slice(queryAt),
    host: header('host') ?? url.slice(authorityAt, pathAt),
    isSecure: url.startsWith('https:'),
    header,
  }
}
