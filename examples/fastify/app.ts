import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import Fastify from 'fastify'
import { server, startStory, stopWith, userOf } from './perdure.ts'

const perdure = getRequestListener(
  (request, { incoming }) => server.fetch(request, { clientAddress: incoming.socket.remoteAddress }),
  { overrideGlobalObjects: false },
)

const app = Fastify()
app.register(async (scope) => {
  // Fastify must not read the bodies of these requests.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
  scope.all('/ai/*', (request, reply) => {
    reply.hijack()
    return perdure(request.raw, reply.raw)
  })
})
app.post<{ Body: { topic: string } }>('/stories', async (request, reply) => {
  const user = userOf(request.headers.cookie)
  if (user === undefined) return reply.code(401).send({ message: 'sign in first' })
  return startStory(user, request.body)
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`listening on http://localhost:${(app.server.address() as AddressInfo).port}`)
app.server.on('upgrade', server.upgrade)
stopWith(app)
