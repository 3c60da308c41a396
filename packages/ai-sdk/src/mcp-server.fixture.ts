import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

type Search = (of: string) => void

export interface CatalogServer {
  /** The address of a server whose tool calls `onSearch`. */
  readonly urlFor: (onSearch: Search) => string
  readonly close: () => Promise<void>
}

/** An MCP server of the official package with the tool `search`, over HTTP on the loopback interface. */
export async function startCatalogServer(): Promise<CatalogServer> {
  const handlers: ReturnType<typeof createMcpHandler>[] = []
  const http = createServer(async (request, response) => {
    const handler = handlers[Number(request.url?.slice(1))]
    const answer = await handler?.fetch(await toRequest(request))
    response.writeHead(answer?.status ?? 404, Object.fromEntries(answer?.headers ?? []))
    for await (const chunk of answer?.body ?? []) response.write(chunk)
    response.end()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return {
    urlFor: (onSearch) => `http://127.0.0.1:${port}/${handlers.push(createMcpHandler(() => catalog(onSearch))) - 1}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

async function toRequest(request: IncomingMessage): Promise<Request> {
  const { method = 'GET', url, headers } = request
  const given = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string])
  const body = method === 'POST' ? { body: await text(request) } : {}
  return new Request(`http://${headers.host}${url}`, { method, headers: given, ...body })
}

function catalog(onSearch: Search): Server {
  const server = new Server({ name: 'catalog', version: '1.0.0' }, { capabilities: { tools: {} } })
  const properties = { of: { type: 'string' } }
  server.setRequestHandler('tools/list', async () => ({
    tools: [
      {
        name: 'search',
        description: 'Searches the catalog',
        inputSchema: { type: 'object' as const, properties, required: ['of'] },
      },
    ],
  }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const of = String(params.arguments?.of)
    onSearch(of)
    return { content: [{ type: 'text' as const, text: `found ${of}` }] }
  })
  return server
}
