import { OPERATIONS as ALL_OPERATIONS, protocolOf } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { createContext } from './client-options.ts'
import { ROUTES } from './protocol-tables.ts'
import { buildRestClient } from './rest-client.ts'
import type { RouteTable } from './route.ts'
import { json, scriptFetch } from './scripted-fetch.fixture.ts'

function setUp(...replies: Parameters<typeof scriptFetch>) {
  const { fetch, requests } = scriptFetch(...replies)
  return { client: buildRestClient(createContext({ baseUrl: 'http://server/v1', fetch })), requests }
}

const page = (ids: readonly string[], nextCursor: string | null) =>
  json({ items: ids.map((id) => ({ id })), nextCursor })

/** Operations of other protocols have clients of their own; requests to hooks come from other services. */
const OPERATIONS = ALL_OPERATIONS.filter(
  (operation) => protocolOf(operation) === undefined && operation.takesRaw !== true,
)

describe('the REST client', () => {
  it('has one method per operation, named after its id', () => {
    const { client } = setUp()
    const followed = ['realtime.open-ws', 'sessions.events']
    const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const ids = Object.entries<object>(client).flatMap(([group, methods]) =>
      Object.keys(methods).map((name) => `${group}.${name === 'start' ? 'stream' : dashed(name)}`),
    )

    expect(ids.toSorted()).toEqual(
      OPERATIONS.map(({ id }) => id)
        .filter((id) => !followed.includes(id))
        .toSorted(),
    )
  })

  it('escapes and inserts every path parameter', async () => {
    const { client, requests } = setUp(json({}), json({}), new Response(null, { status: 204 }))

    await client.mcp.call('files', 'read file?', { arguments: {} })
    await client.memory.putBlock('a/b$&', { value: 'x' })
    expect(await client.workflows.deleteThread('refund', 'thr_1')).toBeUndefined()

    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/mcp/servers/files/tools/read%20file%3F/call',
      'PUT /v1/memory/blocks/a%2Fb%24%26',
      'DELETE /v1/workflows/refund/threads/thr_1',
    ])
  })

  it.each(['', '.', '..'])('rejects the id %j before sending a request', (id) => {
    const { client, requests } = setUp()

    expect(() => client.runs.get(id)).toThrow('runId must be a non-empty id')
    expect(requests).toEqual([])
  })

  it('encodes the query as text and omits undefined values', async () => {
    const { client, requests } = setUp(page([], null))

    await client.runs.list({ limit: 5, agentId: 'echo', status: undefined, since: '2026-01-01T00:00:00.000Z' })

    expect(requests[0]?.path).toBe('/v1/runs?limit=5&agentId=echo&since=2026-01-01T00%3A00%3A00.000Z')
  })

  it('returns the unread response if the body is not JSON', async () => {
    const { client, requests } = setUp(new Response('svc_uptime_seconds 1\n'))

    const response = await client.metrics.get()

    expect(await response.text()).toBe('svc_uptime_seconds 1\n')
    expect(requests[0]?.headers.get('accept')).toBe('*/*')
  })

  it('has a route for every method', () => {
    const routes = Object.values<RouteTable[string]>(ROUTES).flatMap((group) => Object.values(group))

    expect(routes.every(({ path }) => path.startsWith('/'))).toBe(true)
    expect(routes).toHaveLength(OPERATIONS.length - 2)
  })
})

describe('a list call', () => {
  it('resolves to the first page when awaited', async () => {
    const { client, requests } = setUp(page(['a', 'b'], 'next'))

    expect(await client.runs.list()).toEqual({ items: [{ id: 'a' }, { id: 'b' }], nextCursor: 'next' })
    expect(requests).toHaveLength(1)
  })

  it('iterates over the items of all pages with the same query', async () => {
    const { client, requests } = setUp(page(['a', 'b'], 'c1'), page(['c'], 'c2'), page([], null))

    const ids: string[] = []
    for await (const { id } of client.runs.list({ agentId: 'echo' })) ids.push(id)

    expect(ids).toEqual(['a', 'b', 'c'])
    expect(requests.map(({ path }) => path)).toEqual([
      '/v1/runs?agentId=echo',
      '/v1/runs?agentId=echo&cursor=c1',
      '/v1/runs?agentId=echo&cursor=c2',
    ])
  })

  it('fetches no page before it is needed', async () => {
    const { client, requests } = setUp(page(['a', 'b'], 'c1'))

    for await (const { id } of client.runs.list()) if (id === 'b') break

    expect(requests).toHaveLength(1)
  })

  it('returns all items or all pages', async () => {
    const { client } = setUp(page(['a'], 'c1'), page(['b'], null), page(['a'], 'c1'), page(['b'], null))

    expect(await client.runs.list().all()).toEqual([{ id: 'a' }, { id: 'b' }])
    const lengths: number[] = []
    for await (const { items } of client.runs.list().pages()) lengths.push(items.length)
    expect(lengths).toEqual([1, 1])
  })
})
