import { randomBytes } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createServer } from 'perdure'
import { rolldown } from 'rolldown'
import { slowEcho } from './agents.ts'

// Every start uses a new pepper, which makes earlier tokens invalid.
// In production, keep one pepper: perdure secrets generate pepper
process.env.PERDURE_PEPPER ??= randomBytes(32).toString('base64')

const bundle = await rolldown({ input: new URL('page.ts', import.meta.url).pathname, platform: 'browser' })
const { output } = await bundle.generate({ format: 'esm' })
const [{ code }] = output

const page = createHttpServer()
await new Promise<void>((resolve) => page.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`

const server = await createServer({
  config: {
    server: { port: Number(process.env.API_PORT ?? 8080), cors: { allowOrigins: [origin] } },
    auth: { pepperRef: 'env:PERDURE_PEPPER' },
  },
  agents: [slowEcho],
})
const { host, port, basePath } = await server.start()
const api = `http://${host}:${port}${basePath}`
const perdure = server.client({ subject: 'ann', scopes: ['agents:invoke:slow-echo', 'runs:read:own'] })

const html = `<!doctype html><html lang="en" data-api="${api}"><meta charset="utf-8"><title>Perdure</title>
<form><input name="text" aria-label="text" value="Every word arrives exactly once"><button>Ask</button></form>
<output></output><p id="state"></p><script type="module" src="/page.js"></script></html>`

/** In production, put all of these routes behind your login. */
const routes: Record<string, (request: IncomingMessage) => Promise<{ type: string; body: string }>> = {
  'GET /': async () => ({ type: 'text/html', body: html }),
  'GET /page.js': async () => ({ type: 'text/javascript', body: code }),
  'POST /ask': async (request) =>
    json(await perdure.agents.start('slow-echo', { input: { text: await text(request) } })),
  'POST /ticket': async () => json(await perdure.realtime.createWsTicket()),
}
const json = (value: unknown) => ({ type: 'application/json', body: JSON.stringify(value) })

page.on('request', async (request, response) => {
  const route = routes[`${request.method} ${request.url}`]
  if (route === undefined) return response.writeHead(404).end()
  try {
    const { type, body } = await route(request)
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body)
  } catch (error) {
    console.error(error)
    response.writeHead(502).end()
  }
})
console.log(`open ${origin}`)

process.once('SIGTERM', async () => {
  page.close()
  page.closeAllConnections()
  await server.stop()
})
