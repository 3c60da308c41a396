import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRemoteFiles } from './remote-files.ts'

/** A server on loopback that counts connections. */
async function openServer(listener: RequestListener) {
  const server = createServer(listener)
  let connections = 0
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return { port, host: `127.0.0.1:${port}`, connections: () => connections }
}

const limits = (over: object = {}) => ({ maxBytes: 1_000, signal: AbortSignal.timeout(20_000), ...over })
const onLoopback = async () => [{ address: '127.0.0.1', family: 4 }]

describe('createRemoteFiles', () => {
  it('loads the bytes of a file from an allowed host, also after a redirect', async () => {
    const { host } = await openServer((request, response) => {
      if (request.url === '/cat.png') response.end(Buffer.from([1, 2, 3]))
      else response.writeHead(302, { Location: '/cat.png' }).end()
    })
    const { load } = createRemoteFiles({ allowHosts: [host] })

    expect(await load(`http://${host}/cat.png`, limits())).toEqual({ bytes: new Uint8Array([1, 2, 3]) })
    expect(await load(`http://${host}/moved`, limits())).toEqual({ bytes: new Uint8Array([1, 2, 3]) })
  })

  it('connects to no private address, whether the URL has it, a name resolves to it or a redirect leads to it', async () => {
    const inside = await openServer((_, response) => response.end('secret'))
    const outside = await openServer((_, response) =>
      response.writeHead(302, { Location: `http://rebound.example:${inside.port}/` }).end(),
    )
    const { load } = createRemoteFiles({ allowHosts: [outside.host], resolve: onLoopback })

    const refused = 'rebound.example resolves to 127.0.0.1, which is not a public address'
    expect(await load(`http://${inside.host}/`, limits())).toEqual({ error: '127.0.0.1 is not a public address' })
    expect(await load(`http://rebound.example:${inside.port}/`, limits())).toEqual({ error: refused })
    expect(await load(`http://${outside.host}/`, limits())).toEqual({ error: refused })
  })

  it.each([
    ['file:///etc/passwd', 'must begin with https: or http:'],
    ['javascript:alert(1)', 'must begin with https: or http:'],
    ['http://user:secret@files.example/', 'must not contain credentials'],
    ['no url', 'Invalid URL'],
  ])('loads nothing from %s', async (url, error) => {
    const { load } = createRemoteFiles({ allowHosts: [], resolve: onLoopback })
    expect(await load(url, limits())).toEqual({ error: expect.stringContaining(error) })
  })

  it('says why there is no file: its status, its size, too many redirects or no answer in time', async () => {
    const { host } = await openServer((request, response) => {
      if (request.url === '/gone') response.writeHead(404).end('no')
      if (request.url === '/large') response.end('x'.repeat(1_001))
      if (request.url === '/loop') response.writeHead(302, { Location: '/loop' }).end()
    })
    const { load } = createRemoteFiles({ allowHosts: [host] })
    const errorOf = async (path: string, over = {}) => load(`http://${host}${path}`, limits(over))

    expect(await errorOf('/gone')).toEqual({ error: 'the server answered 404' })
    expect(await errorOf('/large')).toEqual({ error: 'the file is larger than 1000 bytes' })
    expect(await errorOf('/loop')).toEqual({ error: 'more than 5 redirects' })
    expect(await errorOf('/silent', { signal: AbortSignal.timeout(50) })).toEqual({ error: expect.any(String) })
  })
})
