import { createBoundedMap } from '@perdure/core'
import { METHODS, type ProtocolName } from '@perdure/protocol'
import { TrieRouter } from 'hono/router/trie-router'
import type { Mounted } from './mount.ts'
import { findMountedPath, type MountedPath } from './request/mounted-path.ts'

export interface Route {
  readonly mounted: Mounted
  readonly params: Readonly<Record<string, string>>
  /** The normalized path, which does not depend on how the client escaped the parameters. */
  readonly path: string
}

export interface Router {
  /** Finds the route of a method and path; HEAD matches GET. */
  match(method: string, path: string): Route | undefined
  /** Methods for the Allow header of a path; empty if no route matches. */
  methodsOf(path: string): readonly string[]
  /** The protocol of the routes that have the first segment of the path in common; `undefined` without such routes. */
  protocolAt(path: string): ProtocolName | undefined
  /** Finds the base path in the path of a request that another HTTP server has received. */
  mountedPathOf(path: string): MountedPath
}

const MAX_CACHED = 1_000
const MAX_CACHED_PATH_LENGTH = 256

/** @param basePaths the prefixes of the routes; the first is that of the API */
export function createRouter(basePaths: readonly string[], mounted: readonly Mounted[]): Router {
  // hono's RegExpRouter does not support overlaps such as `/tokens/self` and `/tokens/:tokenId`.
  const router = new TrieRouter<Mounted>()
  for (const one of mounted) router.add(one.operation.method, one.pattern, one)

  /** Caches routes, because most requests go to a few paths. */
  const cached = createBoundedMap<string, Route>(MAX_CACHED)

  const find = (method: string, path: string): Route | undefined => {
    const [[first]] = router.match(method === 'HEAD' ? 'GET' : method, path) as Found
    if (first === undefined) return undefined
    const [one, values] = first
    const params = Object.entries(values).map(([name, value]) => [name, decode(value)] as const)
    return toRoute(one, Object.fromEntries(params))
  }

  const match = (method: string, path: string): Route | undefined => {
    if (path.length > MAX_CACHED_PATH_LENGTH) return find(method, path)
    const name = `${method} ${path}`
    const route = cached.get(name) ?? find(method, path)
    if (route !== undefined) cached.set(name, route)
    return route
  }

  const protocols = protocolsBySegment(mounted)

  const hasRoute = (path: string) =>
    basePaths.some((base) => [base, `${base}/`].includes(path)) ||
    METHODS.some((method) => match(method, path) !== undefined)

  return {
    match,
    mountedPathOf(path) {
      const readings = basePaths.map((basePath) => findMountedPath(path, { basePath, hasRoute }))
      return readings.find((one) => hasRoute(one.path)) ?? { mountPath: '', path }
    },
    // Without a route, the path under which another HTTP server has mounted this one is unknown.
    protocolAt: (path) => [...protocols].find(([prefix]) => path.includes(prefix))?.[1],
    methodsOf(path) {
      const methods = METHODS.filter((method) => match(method, path) !== undefined)
      if (methods.length === 0) return []
      return methods[0] === 'GET' ? ['GET', 'HEAD', ...methods.slice(1), 'OPTIONS'] : [...methods, 'OPTIONS']
    },
  }
}

/** The first segments below which every route is of one protocol. */
function protocolsBySegment(mounted: readonly Mounted[]): ReadonlyMap<string, ProtocolName> {
  const found = new Map<string, ProtocolName | undefined>()
  for (const { operation, pattern, protocol } of mounted) {
    const [segment] = /^\/[^/:]+\//.exec(operation.path) ?? []
    if (segment === undefined) continue
    const prefix = pattern.slice(0, pattern.length - operation.path.length) + segment
    const isShared = found.has(prefix) && found.get(prefix) !== protocol
    found.set(prefix, isShared ? undefined : protocol)
  }
  return new Map(
    [...found].flatMap(([prefix, protocol]) => (protocol === undefined ? [] : [[prefix, protocol] as const])),
  )
}

/** The matches of hono's TrieRouter; it returns parameter values, not indexes. */
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
