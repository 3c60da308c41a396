import { once } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** A reverse proxy that sends each request, and each WebSocket, to the next node in turn. */
export interface FrontProxy {
  /** The address of the API. */
  readonly url: string
  close(): Promise<void>
}

/** @param ports the ports of the nodes that run at the moment */
export async function openFrontProxy(ports: () => readonly number[]): Promise<FrontProxy> {
  let turn = 0
  const next = () => {
    const all = ports()
    return all[turn++ % all.length]
  }

  const server = createServer((asked, answer) => forward(asked, answer, next()))
  server.on('upgrade', (asked: IncomingMessage, socket: Socket, head: Buffer) => upgrade(asked, socket, head, next()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A client whose node fails in the middle of a request loses its connection, and cannot know what happened. */
function forward(asked: IncomingMessage, answer: ServerResponse, port: number | undefined): void {
  const lose = () => answer.destroy()
  if (port === undefined) {
    lose()
    return
  }
  const { method, url, headers } = asked
  const upstream: ClientRequest = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false })
  upstream.on('response', (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers)
    answer.flushHeaders()
    response.pipe(answer)
    response.on('error', lose)
    response.on('close', () => {
      if (!response.complete) lose()
    })
  })
  upstream.on('error', lose)
  answer.on('close', () => upstream.destroy())
  asked.on('error', () => upstream.destroy())
  asked.pipe(upstream)
}

function upgrade(asked: IncomingMessage, socket: Socket, head: Buffer, port: number | undefined): void {
  if (port === undefined) {
    socket.destroy()
    return
  }
  const upstream = connect(port, '127.0.0.1', () => {
    const lines = asked.rawHeaders.flatMap((name, index, all) =>
      index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
    )
    upstream.write(`${[`GET ${asked.url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`)
    upstream.write(head)
    upstream.pipe(socket).pipe(upstream)
  })
  for (const [one, other] of [
    [socket, upstream],
    [upstream, socket],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
}
