import { createBoundedMap } from '@perdure/core'
import { TrieRouter } from 'hono/router/trie-router'
import type { Mounted } from './mount.ts'

export interface Route {
  readonly mounted: Mounted
  readonly params: Readonly<Record<string, string>>
  /** The path of the operation with its parameters, the same however the client escaped them. */
  readonly path: string
}

export interface Router {
  /** What answers this method and path; HEAD is answered like GET. */
  match(method: string, path: string): Route | undefined
  /** What the Allow header of this path says; empty when no route has it. */
  methodsOf(path: string): readonly string[]
}

const MAX_KNOWN = 1_000
const MAX_KNOWN_LENGTH = 256
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export function createRouter(basePath: string, mounted: readonly Mounted[]): Router {
  // The router of one expression cannot tell `/tokens/self` from `/tokens/:tokenId`.
  const router = new TrieRouter<Mounted>()
  for (const one of mounted) router.add(one.operation.method, basePath + one.operation.path, one)

  /** Most requests go to few places. */
  const known = createBoundedMap<string, Route>(MAX_KNOWN)

  const find = (method: string, path: string): Route | undefined => {
    const [[first]] = router.match(method === 'HEAD' ? 'GET' : method, path) as Found
    if (first === undefined) return undefined
    const [one, values] = first
    const params = Object.entries(values).map(([name, value]) => [name, decode(value)] as const)
    return toRoute(one, Object.fromEntries(params))
  }

  const match = (method: string, path: string): Route | undefined => {
    if (path.length > MAX_KNOWN_LENGTH) return find(method, path)
    const name = `${method} ${path}`
    const route = known.get(name) ?? find(method, path)
    if (route !== undefined) known.set(name, route)
    return route
  }

  return {
    match,
    methodsOf(path) {
      const methods = METHODS.filter((method) => match(method, path) !== undefined)
      if (methods.length === 0) return []
      return methods[0] === 'GET' ? ['GET', 'HEAD', ...methods.slice(1), 'OPTIONS'] : [...methods, 'OPTIONS']
    },
  }
}

/** The form in which this router of hono reports: parameters by value. */
type Found = readonly [ReadonlyArray<readonly [Mounted, Record<string, string>]>]

const toRoute = (mounted: Mounted, params: Route['params']): Route => ({
  mounted,
  params,
  path: mounted.operation.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? '')),
})

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
