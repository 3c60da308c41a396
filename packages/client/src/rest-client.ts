import type { ClientContext } from './client-options.ts'
import { createListCall, type Page } from './list-call.ts'
import { ROUTES } from './protocol-tables.ts'
import type { RestClient } from './rest-methods.ts'
import type { Route, RouteTable } from './route.ts'
import { type CallOptions, type FileContent, sendRequest } from './send-request.ts'

export function buildRestClient(context: ClientContext): RestClient {
  const groups = Object.entries<RouteTable[string]>(ROUTES).map(([group, routes]) => [
    group,
    Object.fromEntries(Object.entries(routes).map(([name, route]) => [name, methodOf(context, route)])),
  ])
  // `ROUTES` and `RestClient` are both derived from the operation table; a test compares their method names.
  return Object.fromEntries(groups) as RestClient
}

type Query = Readonly<Record<string, unknown>>

function methodOf(context: ClientContext, route: Route): (...values: unknown[]) => Promise<unknown> {
  const parameters = route.path.match(/:\w+/g) ?? []
  return (...values) => {
    const path = parameters.reduce(
      (text, name, index) => text.replace(name, pathSegment(values[index], name)),
      route.path,
    )
    const rest = values.slice(parameters.length)
    const content = route.takesFile === true ? (rest.shift() as FileContent) : undefined
    const input = route.input === undefined ? undefined : rest.shift()
    const options = (rest[0] ?? {}) as CallOptions

    const call = async (query: Query | undefined) => {
      const body = route.input === 'body' ? input : undefined
      const { data } = await sendRequest(context, {
        route,
        path: `${path}${formatQuery(query)}`,
        body,
        content,
        options,
      })
      return data
    }
    const query = route.input === 'query' ? (input as Query | undefined) : undefined
    if (route.isList !== true) return call(query)
    const readPage = async (cursor?: string) => {
      const page = await call(cursor === undefined ? query : { ...query, cursor })
      return (page ?? { items: [], nextCursor: null }) as Page<unknown>
    }
    return createListCall(readPage)
  }
}

/** @throws TypeError for a value that would change the path: empty, `.` or `..` */
function pathSegment(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
    throw new TypeError(`${name.slice(1)} must be a non-empty id`)
  }
  // `String.replace` treats `$` in a replacement as a pattern.
  return encodeURIComponent(value).replaceAll('$', '%24')
}

/** An object, such as `metadata`, becomes one parameter per member: `metadata.ticket`. */
function parametersOf([name, value]: readonly [string, unknown]): readonly (readonly [string, unknown])[] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null) return [[name, value]]
  return Object.entries(value).map(([key, member]) => [`${name}.${key}`, member] as const)
}

function formatQuery(query: Query | undefined): string {
  const given = Object.entries(query ?? {}).flatMap(parametersOf)
  const text = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)]))).toString()
  return text === '' ? '' : `?${text}`
}
