import { createStore, type Store } from './client/store.ts'

/** The page that the fragment of the address names, such as `#/runs/run_1?tab=logs`. */
export interface Route {
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  return {
    path: path.split('/').filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

export function hrefOf(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const search = new URLSearchParams(given).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Follows the address of the page. */
export function watchRoute(): Store<Route> {
  const route = createStore(parseRoute(location.hash))
  addEventListener('hashchange', () => route.set(parseRoute(location.hash)))
  return route
}

/** Opens a page, with an entry in the history. */
export function goTo(href: string): void {
  location.hash = href
}

/** Changes the query of this page without an entry in the history. */
export function replaceQuery(route: Route, change: Readonly<Record<string, string | undefined>>): void {
  history.replaceState(null, '', hrefOf(route.path, { ...route.query, ...change }))
  dispatchEvent(new HashChangeEvent('hashchange'))
}
