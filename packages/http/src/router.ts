import { createBoundedMap } from '@berth/core'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
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
  const router = new SmartRouter<Mounted>({ routers: [new RegExpRouter(), new TrieRouter()] })
  for (const one of mounted) router.add(one.operation.method, basePath + one.operation.path, one)

  /** Most requests go to few places. */
  const known = createBoundedMap<string, Route>(MAX_KNOWN)

  const find = (method: string, path: string): Route | undefined => {
    const [found, stash] = router.match(method === 'HEAD' ? 'GET' : method, path) as Found
    const first = found[0]
    if (first === undefined) return undefined
    const params = Object.entries(first[1]).map(([name, slot]) => {
      const value = typeof slot === 'number' ? (stash?.[slot] ?? '') : slot
      return [name, decode(value)] as const
    })
    return toRoute(first[0], Object.fromEntries(params))
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

/** Both forms in which hono's routers report: parameters by value, or as indices of a stash. */
type Found = readonly [ReadonlyArray<readonly [Mounted, Record<string, string | number>]>, (readonly string[])?]

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
