import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { server, startStory, stopWith, userOf } from './perdure.ts'

const app = new Hono()
app.all('/ai/*', (c) => server.fetch(c.req.raw, { clientAddress: getConnInfo(c).remote.address }))
app.post('/stories', async (c) => {
  const user = userOf(c.req.header('cookie'))
  if (user === undefined) return c.json({ message: 'sign in first' }, 401)
  return c.json(await startStory(user, await c.req.json()))
})

const port = Number(process.env.PORT ?? 3000)
const host = serve({ fetch: app.fetch, port }, ({ port }) => console.log(`listening on http://localhost:${port}`))
host.on('upgrade', server.upgrade)
stopWith(host)
