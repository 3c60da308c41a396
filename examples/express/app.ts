import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { server, startStory, stopWith, userOf } from './perdure.ts'

const perdure = getRequestListener(
  (request, { incoming }) => server.fetch(request, { clientAddress: incoming.socket.remoteAddress }),
  { overrideGlobalObjects: false },
)

const app = express()
app.use('/ai', perdure)
app.use(express.json())
app.post('/stories', async (req, res) => {
  const user = userOf(req.headers.cookie)
  if (user === undefined) return res.status(401).json({ message: 'sign in first' })
  res.json(await startStory(user, req.body))
})

const host = app.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`listening on http://localhost:${(host.address() as AddressInfo).port}`)
})
host.on('upgrade', server.upgrade)
stopWith(host)
