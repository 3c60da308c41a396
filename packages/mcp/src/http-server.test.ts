import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { McpClient, McpEndpoint } from '@perdure/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestClient, refusal } from './mcp-client.fixture.ts'

const open: (McpClient | Server)[] = []
afterEach(async () => {
  for (const one of open.splice(0)) {
    if ('closeAllConnections' in one) one.closeAllConnections()
    await one.close()
  }
})

type Answer = (request: IncomingMessage, message: Message, response: ServerResponse) => void
interface Message {
  readonly id?: number
  readonly method?: string
  readonly params: { readonly protocolVersion: string; readonly name: string; readonly cursor?: string }
}

const json = (response: ServerResponse, value: unknown) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** A server without an HTTP library, so that it can violate the protocol. */
async function startServer(
  onCall: Answer = (_, { id }, response) => json(response, result(id, { content: [] })),
  listTools = (_cursor?: string): object => ({ tools: [toolNamed('go')] }),
) {
  const seen: { method: string; url: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
    if (request.method !== 'POST') return response.writeHead(405).end()
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => answer(request, JSON.parse(text), response))
  })
  const answer: Answer = (request, message, response) => {
    const { id, method, params } = message
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'initialize') {
      const serverInfo = { name: 'http', version: '1' }
      return json(
        response,
        result(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }),
      )
    }
    if (method === 'tools/list') return json(response, result(id, listTools(params?.cursor)))
    return onCall(request, message, response)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(server)
  const { port } = server.address() as AddressInfo
  const endpoint: McpEndpoint = { transport: 'http', id: 'web', url: `http://127.0.0.1:${port}/mcp` }
  return { endpoint, seen, port }
}

const toolNamed = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } })
const manyTools = (count: number, from = 0, description = '') =>
  Array.from({ length: count }, (_, index) => toolNamed(`tool-${from + index}`, description))
const LISTS: Readonly<Record<string, (cursor?: string) => object>> = {
  'endless pages': (cursor = '0') => ({ tools: [toolNamed(`tool-${cursor}`)], nextCursor: `${Number(cursor) + 1}` }),
  'endless pages without a tool': (cursor = '0') => ({ tools: [], nextCursor: `${Number(cursor) + 1}` }),
  'too many tools on one page': () => ({ tools: manyTools(1_001) }),
  'too many tools on many pages': (cursor = '0') => ({
    ...{ tools: manyTools(200, Number(cursor)), nextCursor: `${Number(cursor) + 200}` },
  }),
  'pages with too many bytes': (cursor = '0') => ({
    ...{ tools: manyTools(1, Number(cursor), 'x'.repeat(500_000)), nextCursor: `${Number(cursor) + 1}` },
  }),
}

const result = (id: number | undefined, value: object) => ({ jsonrpc: '2.0', id, result: value })
const go = { tool: 'go', arguments: {} }
const make = (over = {}) => {
  const made = createTestClient({ callTimeoutMs: 2_000, connectTimeoutMs: 2_000, ...over })
  open.push(made.client)
  return made
}

describe('an MCP server over HTTP', () => {
  it('receives the headers that its secret contains', async () => {
    const { endpoint, seen } = await startServer()
    const { client } = make({ resolveSecret: async () => '{"Authorization":"Bearer t","X-Team":"a"}' })

    expect(await client.call({ ...endpoint, headersRef: 'env:H' } as McpEndpoint, go)).toMatchObject({ ok: true })

    expect(seen).not.toHaveLength(0)
    for (const { headers } of seen) expect(headers).toMatchObject({ authorization: 'Bearer t', 'x-team': 'a' })
  })

  it('receives no request before its first use', async () => {
    const { endpoint, seen } = await startServer()
    const { client } = make()
    expect(client.status(endpoint.id)).toBe('disconnected')

    expect(seen).toEqual([])
  })

  it.each([301, 302, 307, 308])('cannot redirect with %i, so no header reaches another server', async (status) => {
    const target = await startServer()
    const { endpoint, port } = await startServer((_, __, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${target.port}/mcp` }).end()
    })
    const { client } = make({ resolveSecret: async () => 'Authorization: Bearer t' })

    for (const location of [`http://127.0.0.1:${target.port}/mcp`, `http://127.0.0.1:${port}/other`]) {
      expect(location).toBeTruthy()
      const outcome = await client.call({ ...endpoint, headersRef: 'env:H' } as McpEndpoint, go)
      expect(outcome).toMatchObject({ ok: false, error: { message: expect.stringContaining('redirects') } })
    }
    expect(target.seen).toEqual([])
  })

  it.each([
    ['JSON that is not MCP', { nonsense: 1 }, 'not a valid MCP message'],
    ['a long error message', { jsonrpc: '2.0', id: 0, error: { code: -1, message: 'no '.repeat(1_000) } }, 'no no'],
  ])('is unavailable with a short error message if it answers with %s', async (_, answer, words) => {
    const server = createServer((__, response) => json(response, answer))
    open.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { client, warnings } = make()

    const error = await client
      .tools({ transport: 'http', id: 'web', url: `http://127.0.0.1:${port}/mcp` })
      .catch((refused: Error) => refused)

    expect(error).toMatchObject({ code: 'mcp-server-unavailable', message: expect.stringContaining(words) })
    expect(warnings[0]).toContain(words)
    expect(warnings[0]?.length).toBeLessThan(700)
  })

  it('lists the tools of all its pages', async () => {
    const { endpoint } = await startServer(undefined, (cursor = '0') => ({
      tools: manyTools(100, Number(cursor)),
      ...(cursor === '900' ? {} : { nextCursor: `${Number(cursor) + 100}` }),
    }))

    expect(await make().client.tools(endpoint)).toHaveLength(1_000)
  })

  it('lists each tool once if it repeats its last page', async () => {
    const { endpoint } = await startServer(undefined, (cursor) => ({
      tools: [toolNamed(cursor === undefined ? 'first' : 'last')],
      nextCursor: 'again',
    }))

    expect(await make().client.tools(endpoint)).toMatchObject([{ name: 'first' }, { name: 'last' }])
  })

  it.each([
    ['endless pages', 'the tool list has more than 50 pages'],
    ['endless pages without a tool', 'the tool list has more than 50 pages'],
    ['too many tools on one page', 'the tool list has more than 1000 tools'],
    ['too many tools on many pages', 'the tool list has more than 1000 tools'],
    ['pages with too many bytes', 'the tool list has more than 4194304 bytes'],
  ])('is unavailable if it lists %s', async (kind, problem) => {
    const { endpoint, seen } = await startServer(undefined, LISTS[kind])
    const { client } = make({ maxResultBytes: 1_048_576, callTimeoutMs: 60_000 })

    const refused = await client.tools(endpoint).catch((error: Error) => error)

    expect(refused).toMatchObject({ code: 'mcp-server-unavailable', message: `web: ${problem}` })
    expect(seen.length).toBeLessThanOrEqual(55)
    expect(await client.call(endpoint, go).catch((error: Error) => error)).toMatchObject({ message: `web: ${problem}` })
  })

  it('must send all pages of its tool list within the timeout of one call', async () => {
    let pages = 0
    const { endpoint } = await startServer(undefined, (cursor = '0') => {
      const until = performance.now() + 30
      while (performance.now() < until);
      pages++
      return { tools: [toolNamed(`tool-${cursor}`)], nextCursor: `${Number(cursor) + 1}` }
    })
    const { client } = make({ callTimeoutMs: 200 })

    const refused = await client.tools(endpoint).catch((error: Error) => error)

    expect(refused).toMatchObject({ message: 'web: the server did not respond within 200 ms' })
    expect(pages).toBeLessThan(20)
  })

  it('cannot keep a call open by hanging or by sending an endless response', async () => {
    const hanging = await startServer(() => undefined)
    const { client } = make({ callTimeoutMs: 300 })
    expect(await client.call(hanging.endpoint, go)).toMatchObject({ ok: false, error: { kind: 'timeout' } })

    const flooding = await startServer((_, __, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const pour = () => {
        while (response.writable && response.write('x'.repeat(65_536)));
        response.once('drain', pour)
      }
      pour()
    })
    const endless = await client.call({ ...flooding.endpoint, id: 'flood' }, { ...go, timeoutMs: 5_000 })
    expect(endless).toMatchObject({ ok: false })
  })

  it('is unavailable if nothing listens or its secret is not a header, and the error hides the secret', async () => {
    const { client } = make({ resolveSecret: async () => 'root:x:0:0\nsecond line' })
    const nobody: McpEndpoint = { transport: 'http', id: 'nobody', url: 'http://127.0.0.1:1/mcp' }
    expect(await refusal(client.tools(nobody))).toBe('mcp-server-unavailable')

    const { endpoint, seen } = await startServer()
    const refused = client.tools({ ...endpoint, headersRef: 'file:/etc/passwd' } as McpEndpoint)
    await expect(refused).rejects.toThrow('must be a JSON object of headers or one line')
    await expect(refused).rejects.not.toThrow('root')
    expect(seen).toEqual([])
  })
})
