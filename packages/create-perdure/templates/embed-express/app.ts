import { getRequestListener } from '@hono/node-server'
import express, { type Express } from 'express'
import type { PerdureServer } from 'perdure'

export function createApp(perdure: PerdureServer): Express {
  const api = getRequestListener(
    (request, { incoming }) => perdure.fetch(request, { clientAddress: incoming.socket.remoteAddress }),
    { overrideGlobalObjects: false },
  )
  const app = express()
  app.use('/ai', api)
  app.use(express.json())
  app.post('/stories', async (req, res) => {
    const user = userOf(req.headers.cookie)
    if (user === undefined) return void res.status(401).json({ message: 'sign in first' })
    const client = perdure.client({ subject: user, scopes: ['agents:invoke:story', 'runs:read:own'] })
    res.json(await client.agents.run('story', { input: req.body }))
  })
  return app
}

/** Replace this with the session of your application. */
const userOf = (cookie = ''): string | undefined => /session=(\w+)/.exec(cookie)?.[1]
